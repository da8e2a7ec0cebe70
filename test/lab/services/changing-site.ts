import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "#test/lab/driver.ts";
import { startDaemon } from "#test/lab/services/daemon.ts";
import type { Issued } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { until } from "#test/support/until.ts";

/** An https server that answers 200 with "ok". Its certificate can be replaced while it runs. */
export interface ChangingSite {
  /** Presents these certificates from now on, the server's own first. */
  install(...chain: readonly [Issued, ...Issued[]]): Promise<void>;
}

const program = (file: string, port: number): string => `
const read = () => JSON.parse(require("node:fs").readFileSync(${JSON.stringify(file)}, "utf8"));
const server = require("node:https").createServer(read(), (_, response) => response.end("ok"));
let changes = 0;
process.on("SIGUSR2", () => {
  server.setSecureContext(read());
  console.log("change " + ++changes);
});
server.listen(${port}, () => console.log("ready"));`;

/** Starts the server on a port of a node. */
export async function startChangingSite(
  network: Network,
  { node, port }: { readonly node: string; readonly port: number },
  ...chain: readonly [Issued, ...Issued[]]
): Promise<ChangingSite> {
  const file = join(network.folder, `site-${port}.json`);
  const write = ([leaf, ...above]: readonly [Issued, ...Issued[]]): void => {
    writeFileSync(`${file}.next`, JSON.stringify(identityOf(leaf, ...above)));
    renameSync(`${file}.next`, file);
  };
  write(chain);
  const command = [process.execPath, "-e", program(file, port)];
  const daemon = await startDaemon(network, { node, command, ready: "ready" });
  let changes = 0;
  return {
    async install(...next) {
      write(next);
      changes += 1;
      daemon.kill("SIGUSR2");
      await until(() => daemon.log().includes(`change ${changes}\n`), `change ${changes} of the certificate`);
    },
  };
}
