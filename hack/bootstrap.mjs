// Runs before `npm start` and `npm test`, on whatever Node is there, before any package is installed: plain JavaScript,
// and nothing but Node's own modules.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const oldest = [22, 19];

const readJson = (file) => {
  try {
    return JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  } catch {
    return undefined;
  }
};

// By content, not by time: a checkout touches files without changing them.
const installedIsCurrent = () => {
  const wanted = readJson('package-lock.json')?.packages ?? {};
  const installed = readJson('node_modules/.package-lock.json')?.packages;
  if (!installed) return false;
  const names = new Set([...Object.keys(wanted), ...Object.keys(installed)]);
  names.delete('');
  for (const name of names) {
    // Optional packages for other platforms are left out when installing.
    if (!installed[name] && wanted[name].optional) continue;
    if (installed[name]?.version !== wanted[name]?.version || installed[name]?.integrity !== wanted[name]?.integrity) return false;
  }
  return true;
};

const fail = (message) => {
  console.error(`bootstrap: ${message}`);
  process.exit(1);
};

if (!installedIsCurrent()) {
  console.log('bootstrap: installing packages (npm ci)');
  // The engines warning is about the Node that installs; the one that runs things comes with the packages.
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error) fail(`npm cannot be run: ${error.message}`);
  if (status !== 0) fail(`npm ci failed with exit code ${status}; its output above says why`);
}

// npm scripts put node_modules/.bin first, so this is the Node that runs the script itself.
const bin = path.join(root, 'node_modules', '.bin');
const search = [bin, ...(process.env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== bin)];
let version;
try {
  version = execFileSync('node', ['--version'], { env: { ...process.env, PATH: search.join(path.delimiter) }, encoding: 'utf8' }).trim();
} catch (error) {
  fail(`node cannot be run: ${error.message}`);
}
const [major, minor] = version.slice(1).split('.').map(Number);
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  fail(existsSync(path.join(bin, 'node'))
    ? `node_modules/.bin/node is ${version}, but ${oldest.join('.')} or newer is needed: remove node_modules and try again`
    : `Node ${oldest.join('.')} or newer is needed, and PATH has ${version}. The packages bring one for Linux on x64 and arm64 only`
      + ` (optional dependencies: was npm told to omit them?); for ${process.platform} on ${process.arch}, install Node 24.`);
}
