import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Network } from "#test/lab/driver.ts";

/** Findings of testssl.sh(1) by their ids. */
export type Findings = ReadonlyMap<string, string>;

/** Runs some checks of testssl.sh by address, with a name in SNI. It takes 5 to 20 s. */
export async function testSsl(
  network: Network,
  node: string,
  server: { readonly ip: string; readonly name: string },
  checks: readonly string[],
): Promise<Findings> {
  const file = join(network.folder, `testssl-${server.name}.json`);
  const quiet = ["--quiet", "--color", "0", "--warnings", "off", "--nodns", "none"];
  const line = ["testssl", ...quiet, "--ip", server.ip, "--jsonfile", file, ...checks, `https://${server.name}`];
  await network.run(node, line, 100_000);
  const rows = JSON.parse(readFileSync(file, "utf8")) as readonly { readonly id: string; readonly finding: string }[];
  return new Map(rows.map(({ id, finding }) => [id, finding]));
}
