import { enableCompileCache } from 'node:module';

// kept in the system's folder for temporary files where that can be written: loading takes half the time from then on
enableCompileCache();
await import('./command.ts');
