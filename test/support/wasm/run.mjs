// Starts a Ruby that is WebAssembly: what bin/wasm says, by one argument of JSON:
//
//   {"binary": "….wasm", "folders": {"/pipeloader/lib": "…"}, "gems": {"graphql": {…}}, "arguments": ["test/…_test.rb"]}

import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";

const orders = JSON.parse(process.argv[2]);
const packages = createRequire(orders.binary);
const { RubyVM } = packages("@ruby/wasm-wasi");
const shim = createRequire(packages.resolve("@ruby/wasm-wasi")).resolve("@bjorn3/browser_wasi_shim");
const { WASI, OpenFile, File, Directory, PreopenDirectory, ConsoleStdout } = await import(shim);

// What Ruby reads of a gem, or of ours.
const READ = /\.(rb|yml)$|^VERSION$/;

const entries = (folder) => new Map(fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
  const name = path.join(folder, entry.name);
  if (entry.isDirectory()) return [[entry.name, new Directory(entries(name))]];
  return READ.test(entry.name) && fs.statSync(name).isFile() ? [[entry.name, new File(fs.readFileSync(name), { readonly: true })]] : [];
}));

const roots = {};
for (const [there, here] of Object.entries(orders.folders)) {
  const [root, name] = there.split("/").slice(1);
  (roots[root] ??= new Map()).set(name, new Directory(entries(here)));
}

const output = (number) => new ConsoleStdout((bytes) => fs.writeSync(number, bytes));
const environment = Object.entries(process.env).filter(([name]) => name.startsWith("PIPELOADER_")).map((pair) => pair.join("="));
const wasi = new WASI([], [...environment, "GEM_HOME=/gems", "GEM_PATH=/gems", `PIPELOADER_ORDERS=${JSON.stringify(orders)}`], [
  new OpenFile(new File([])), output(1), output(2),
  ...Object.entries(roots).map(([root, contents]) => new PreopenDirectory(`/${root}`, contents)),
], { debug: false });
const module = await WebAssembly.compile(fs.readFileSync(orders.binary));
const { vm } = await RubyVM.instantiateModule({ module, wasip1: wasi });
const report = JSON.parse(vm.eval('require "/pipeloader/test/support/wasm/boot.rb"; Wasm.main').toString());
if (process.env.PIPELOADER_REPORT) fs.writeFileSync(process.env.PIPELOADER_REPORT, JSON.stringify(report));
process.exit(report.failures.length > 0 ? 1 : 0);
