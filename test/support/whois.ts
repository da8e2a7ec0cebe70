import { readFileSync } from "node:fs";
import { whois } from "#probe-agent/tools/whois/whois.ts";
import { startWhoisServer, type WhoisBehaviour, type WhoisServer } from "#test/servers/whois.ts";
import { startRegistries, type Registries } from "#test/support/registries.ts";
import { resultOf, runTool, type ToolRun, type ToolSetting } from "#test/support/tool.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { whois as contract } from "#shared/tools/whois/contract.ts";

type Result = ResultOf<typeof contract>;

/** Answers a query; undefined means "No match". */
export type Say = (query: string) => WhoisBehaviour | undefined;

/** Stand-ins for every registry, and the whois tool over real ports. */
export interface WhoisBench {
  readonly registries: Registries;
  /** The operator's own server, which is asked first, and two that it can refer to. */
  readonly first: WhoisServer;
  readonly second: WhoisServer;
  readonly third: WhoisServer;
  /** Answers of the servers, set by the test. */
  readonly says: { first?: Say; second?: Say; third?: Say };
  /** Resets all answers to 404 and "No match". */
  reset(): void;
  run(host: string, given?: ToolSetting): Promise<ToolRun<Result>>;
  /** Runs the tool. The run must succeed. */
  getResult(host: string, given?: ToolSetting): Promise<Result>;
  close(): Promise<void>;
}

/** Starts the servers. The clock is stopped at 2024-11-21T10:00:00Z. */
export async function startWhoisBench(): Promise<WhoisBench> {
  const says: WhoisBench["says"] = {};
  const registries = await startRegistries();
  const start = (which: keyof typeof says) => startWhoisServer((query) => says[which]?.(query));
  const [first, second, third] = await Promise.all([start("first"), start("second"), start("third")]);
  const setting = (given: ToolSetting = {}): ToolSetting => ({
    now: () => new Date("2024-11-21T10:00:00Z"),
    ...given,
    services: {
      rdapBootstrapUrl: registries.bootstrapUrl,
      whoisServer: { host: "127.0.0.1", port: first.port },
      ...given.services,
    },
  });
  return {
    registries,
    first,
    second,
    third,
    says,
    reset() {
      for (const which of ["first", "second", "third"] as const) delete says[which];
      registries.answer(() => null);
    },
    run: (host, given) => runTool(whois, { host }, setting(given)),
    getResult: (host, given) => resultOf(whois, { host }, setting(given)),
    async close() {
      await Promise.all([registries.close(), first.close(), second.close(), third.close()]);
    },
  };
}

/** Returns the text of a registry's answer (test/fixtures/whois). */
export function whoisFixture(name: string): string {
  return readFileSync(new URL(`../fixtures/whois/${name}.txt`, import.meta.url), "utf8");
}
