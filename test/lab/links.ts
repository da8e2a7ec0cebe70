import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Topology, WanSpec } from "#test/lab/topology.ts";
import { LAB_ENVIRONMENT } from "#test/lab/namespaces.ts";

const SOURCE = fileURLToPath(new URL("link.c", import.meta.url));
const SEED = 20_260_101;

/** Properties of a link that can be changed while it runs. `down` loses everything in both directions. */
export type LinkState = Omit<WanSpec, "a" | "b" | "mtu"> & { readonly down?: boolean };

/** Packets that one link has handled in one direction since its last `set`. */
export interface LinkCount {
  readonly carried: number;
  readonly dropped: number;
  readonly duplicated: number;
}

/** The running links. */
export interface Links {
  /** Changes some properties of a link and keeps the others. Counting starts again. */
  set(name: string, change: Partial<LinkState>): Promise<void>;
  /** Resets a link to its row in the table. */
  reset(name: string): Promise<void>;
  /** Returns the number of packets in the direction a to b (or b to a). */
  count(name: string, direction?: "out" | "back"): Promise<LinkCount>;
  close(): Promise<void>;
}

/** Compiles the program of the links. */
export async function compileLinks(folder: string): Promise<string> {
  const program = `${folder}/link`;
  await promisify(execFile)("gcc", ["-O2", "-o", program, SOURCE], { env: LAB_ENVIRONMENT });
  return program;
}

/** Starts all WAN links of a topology between existing namespaces. The devices are w0, w1, ... in the table's order. */
export async function startLinks(
  program: string,
  { wans }: Topology,
  namespace: (node: string) => string,
): Promise<Links> {
  const child = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting: PromiseWithResolvers<string>[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.resolve(line));
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => {
      for (const { reject } of waiting) reject(new Error("the link program ended"));
      resolve();
    });
  });
  const ask = async (line: string): Promise<string> => {
    const answer = Promise.withResolvers<string>();
    waiting.push(answer);
    child.stdin.write(`${line}\n`);
    const said = await answer.promise;
    if (!said.startsWith("ok")) throw new Error(`links: ${line}: ${said}`);
    return said;
  };
  const order = Object.keys(wans);
  const states = new Map<string, LinkState>(Object.entries(wans));
  const indexOf = (name: string): number => {
    const index = order.indexOf(name);
    if (index < 0) throw new Error(`the lab has no link ${name}`);
    return index;
  };
  const apply = async (name: string, state: LinkState): Promise<void> => {
    const index = indexOf(name);
    states.set(name, state);
    await Promise.all([0, 1].map((direction) => ask(settingLine(index, direction, state))));
  };
  await Promise.all(
    Object.entries(wans).map(([, { a, b }], index) => ask(`link ${namespace(a)} w${index} ${namespace(b)} w${index}`)),
  );
  await Promise.all(Object.entries(wans).map(([name, spec]) => apply(name, spec)));
  return {
    set: (name, change) => apply(name, { ...(states.get(name) ?? { delayMs: 0 }), ...change }),
    async reset(name) {
      const spec = wans[name];
      if (spec !== undefined) await apply(name, spec);
    },
    async count(name, direction = "out") {
      const said = await ask(`stats ${indexOf(name)} ${direction === "out" ? 0 : 1}`);
      const [, carried, dropped, duplicated] = said.split(" ").map(Number);
      return { carried: carried ?? 0, dropped: dropped ?? 0, duplicated: duplicated ?? 0 };
    },
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}

/** Returns one direction in the form that the program reads. Pure. */
function settingLine(index: number, direction: number, state: LinkState): string {
  const outward = direction === 0;
  const values = [
    state.delayMs * 1_000,
    (state.jitterMs ?? 0) * 1_000,
    outward ? (state.loss ?? 0) * 1_000_000 : 0,
    outward ? (state.dropEvery ?? 0) : 0,
    outward ? (state.duplicateEvery ?? 0) : 0,
    state.rate ?? 0,
    state.down === true ? 1 : 0,
    SEED + 2 * index + direction,
  ];
  return ["set", index, direction, ...values.map(Math.round)].join(" ");
}
