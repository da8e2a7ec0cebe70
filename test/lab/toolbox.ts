import { createInterface } from "node:readline";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { addressOf } from "#test/lab/addresses.ts";
import type { Lab } from "#test/lab/lab.ts";
import { SOURCES } from "#test/lab/services/product.ts";
import { LAB_RANGES } from "#test/lab/topology.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** The agent's tools in one node of the lab, without the rest of the product. */
export interface Toolbox {
  run<T>(tool: string, params: Readonly<Record<string, unknown>>): Promise<Outcome<T>>;
  /** Runs a tool. The run must succeed. */
  getResult<T>(tool: string, params: Readonly<Record<string, unknown>>): Promise<T>;
}

/** Starts the tools in the probe of Europe with the settings of the lab's agents. They end with the lab. */
export async function openToolbox({ network, names, web }: Lab): Promise<Toolbox> {
  const resolver = addressOf(network.topology, "resolver-eu");
  // For the programs that the tools are compared with.
  network.etc("probe-eu", "resolv.conf", `nameserver ${resolver}\n`);
  const child = network.spawn("probe-eu", [process.execPath, `${ROOT}/test/lab/tools-here.ts`], {
    VANTAGE_ALLOW_TARGETS: LAB_RANGES.join(","),
    VANTAGE_ALLOW_NAMES: "test",
    VANTAGE_DNS_SERVERS: resolver,
    ...SOURCES,
    // The built-in resolvers are unreachable, which takes time to detect.
    VANTAGE_RESOLVERS: JSON.stringify([
      {
        id: "us",
        name: "Resolver us",
        location: "us",
        address: addressOf(network.topology, "resolver-us"),
        transport: "udp",
      },
    ]),
    VANTAGE_TRUST_ANCHORS: names.trustAnchorFile,
    NODE_EXTRA_CA_CERTS: web.rootFile,
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("the tools have no pipes");
  let complaints = "";
  stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const waiting = new Map<number, (outcome: Outcome<never>) => void>();
  const ready = Promise.withResolvers<void>();
  child.once("exit", () => ready.reject(new Error(`the tools have ended: ${complaints}`)));
  createInterface({ input: stdout }).on("line", (line) => {
    if (line === "ready") return ready.resolve();
    const { id, outcome } = JSON.parse(line) as { readonly id: number; readonly outcome: Outcome<never> };
    waiting.get(id)?.(outcome);
    waiting.delete(id);
  });
  await ready.promise;
  let last = 0;
  const run: Toolbox["run"] = (tool, params) => {
    last += 1;
    const id = last;
    const done = new Promise<Outcome<never>>((resolve) => waiting.set(id, resolve));
    stdin.write(`${JSON.stringify({ id, tool, params })}\n`);
    return done;
  };
  return {
    run,
    async getResult<T>(tool: string, params: Readonly<Record<string, unknown>>) {
      const outcome = await run<T>(tool, params);
      if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
      return outcome.data;
    },
  };
}
