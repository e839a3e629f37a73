/** Runs the suites inside the extension host; the editor calls `run`. */
import * as path from 'node:path';
import Mocha from 'mocha';

const SUITES = ['editor.suite.js', 'settings.suite.js', 'client.suite.js'];

export function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const mocha = new Mocha({ ui: 'bdd', reporter: 'tap', color: false, timeout: 60_000 });
    for (const suite of SUITES) mocha.addFile(path.join(__dirname, suite));
    mocha.run((failures) => (failures ? reject(new Error(`${failures} failed`)) : resolve()));
  });
}
