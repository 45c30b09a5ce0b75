import { atEnd } from '../lifecycle.ts';

it('passes', () => atEnd(() => Promise.reject(new Error('would not stop'))));
