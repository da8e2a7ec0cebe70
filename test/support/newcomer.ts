import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { freePort } from "#test/support/free-port.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { makePlace, serversIn } from "#test/shared/client/up/supervisor.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { openShell, type Shell } from "#test/support/shell.ts";

/** A user who has started the product as the README says, with an empty home, in the clone's directory. */
export interface Newcomer extends Omit<Shell, "close"> {
  /** The first key from the text after the start; also in `KEY` of the shell. */
  readonly key: string;
  /** Everything that `npm start` has printed. */
  readonly greeting: string;
  readonly operatorToken: string;
  readonly home: string;
  /** Returns a text of the README with the addresses of this run, which are its only changes. */
  atHome(text: string): string;
  /** Sends Ctrl-C. Returns the status of `npm start` and the processes that its database has left. */
  interrupt(): Promise<{ readonly status: number | null; readonly left: readonly number[] }>;
  /** Stops and removes everything. */
  clean(): Promise<void>;
}

/**
 * Starts the product by `npm start`, with free ports and a simulated internet: example.com is a site on this machine,
 * at another port than 443, because tests have no privilege.
 */
export async function startNewcomer(): Promise<Newcomer> {
  const place = await makePlace();
  const folder = dirname(place.directory);
  const home = join(folder, "home");
  mkdirSync(home);
  const pki = await createPki({ name: "Readme Test Root" });
  const site = await startHttpServer({ tls: identityOf(await pki.issue({ dns: ["example.com"] }), pki.intermediate) });
  const here = { A: ["127.0.0.1"] };
  const dns = await startDnsServer({ zones: { "example.com": here, "example.org": here } });
  writeFileSync(join(folder, "root.pem"), pki.root.pem);
  const environment = {
    ...place.environment,
    HOME: home,
    VANTAGE_METRICS_ADDR: `127.0.0.1:${await freePort()}`,
    VANTAGE_AGENT_METRICS_ADDR: `127.0.0.1:${await freePort()}`,
    VANTAGE_DNS_SERVERS: dns.address,
    VANTAGE_ALLOW_TARGETS: "127.0.0.0/8",
    NODE_EXTRA_CA_CERTS: join(folder, "root.pem"),
  };
  const places: readonly (readonly [string, string])[] = [
    ["127.0.0.1:8080", place.environment["VANTAGE_HTTP_ADDR"] ?? ""],
    ["127.0.0.1:9464", environment.VANTAGE_METRICS_ADDR],
    ["127.0.0.1:9465", environment.VANTAGE_AGENT_METRICS_ADDR],
    ["control-plane.example:50051", place.environment["VANTAGE_GRPC_ADDR"] ?? ""],
    ["https://example.com", `https://example.com:${site.port}`],
    ["ssl example.com", `ssl example.com --port ${site.port}`],
  ];
  const clean = async () => {
    await place.clean();
    await Promise.all([site.close(), dns.close()]);
  };
  const product = place.start(environment, ["sh", "-c", `cd '${ROOT}' && exec ${startCommand()}`]);
  await product.says("Ctrl-C stops everything").catch(async (error: unknown) => {
    await clean();
    throw error;
  });
  const greeting = product.output();
  const key = /^ {2}First API key +(vtg_\S+) /m.exec(greeting)?.[1] ?? "";
  const shell = openShell(ROOT, { ...environment, KEY: key });
  return {
    ...shell,
    key,
    greeting,
    home,
    operatorToken: readFileSync(join(place.directory, "admin-token"), "utf8").trim(),
    atHome: (text) => places.reduce((changed, [from, to]) => changed.replaceAll(from, to), text),
    async interrupt() {
      product.process.kill("SIGINT");
      return { status: await product.ended, left: serversIn(place.directory) };
    },
    async clean() {
      shell.close();
      await clean();
    },
  };
}

/**
 * Returns `npm start`, or the script behind it if the installation is older than the lockfile: npm would replace
 * node_modules under the running tests.
 */
function startCommand(): string {
  const time = (name: string) => statSync(join(ROOT, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (time("package-lock.json") <= time("node_modules/.package-lock.json")) return "npm start";
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: { start: string } };
  return scripts.start.replace(/^exec /, "");
}
