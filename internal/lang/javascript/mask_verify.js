// Imports each entry of a package in a process of its own, and reports each end.
'use strict';
const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');

const [, , plan, report] = process.argv;
const { entries, seconds } = JSON.parse(fs.readFileSync(plan, 'utf8'));
const tree = process.cwd();

// The child says how it went on a channel of its own: what is imported may print.
const child = `
const said = (o) => { require('fs').writeSync(3, JSON.stringify(o)); process.exit(0); };
import(process.argv[1]).then(() => said({}), (e) => said({
  message: String(e && e.name || 'Error') + ': ' + String(e && e.message || e), stack: String(e && e.stack || '') }));
`;

// place is the first line of the tree in a stack.
function place(stack) {
  for (const line of stack.split('\n')) {
    const found = /(?:\(|at |^)(?:file:\/\/)?(\/[^():]+):(\d+)/.exec(line);
    if (found && found[1].startsWith(tree + path.sep)) {
      return { path: path.relative(tree, found[1]), line: Number(found[2]) };
    }
  }
  return {};
}

const out = fs.openSync(report, 'w');
for (const unit of entries) {
  const url = pathToFileURL(path.join(tree, unit)).href;
  const end = spawnSync(process.execPath, ['-e', child, url], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'], timeout: seconds * 1000, killSignal: 'SIGKILL',
  });
  const said = end.output && end.output[3] ? String(end.output[3]) : '';
  let fault = {};
  if (end.error) {
    fault.message = end.error.code === 'ETIMEDOUT' ? `not imported within ${seconds} s` : String(end.error);
  } else if (!said) {
    fault.message = `the import ended the process: ${end.signal || 'exit code ' + end.status}`;
  } else {
    const { message, stack } = JSON.parse(said);
    fault = { message: message && message.split('\n')[0], ...(message ? place(stack) : {}) };
  }
  fs.writeSync(out, JSON.stringify({ unit, ...fault }) + '\n');
}
