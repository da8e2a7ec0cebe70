// Program of a process with many simulated agents. It receives its agents and their faults over IPC.
import { flushCompileCache } from "node:module";
import type { Trouble } from "#test/fleet/chaos.ts";
import { startAgent, type AgentMember, type SimulatedAgent } from "#test/fleet/agent.ts";
import { openNotebook } from "#test/fleet/notebook.ts";
import { below, createDice } from "#test/fleet/random.ts";

/** Messages of the parent: first the agents, then faults by the agent's number. */
export type Order =
  | {
      readonly order: "start";
      readonly port: number;
      readonly domain: string;
      /** Path of a new file for the notes. */
      readonly notes: string;
      readonly seed: number;
      /** Used by this process only. */
      readonly name: string;
      readonly members: readonly AgentMember[];
    }
  | { readonly order: "trouble"; readonly target: number; readonly what: Trouble };

/** Message of the process: how many of its agents have been welcomed at least once. */
export interface Report {
  readonly attached: number;
}

const FLUSH_EVERY_MS = 50;
const agents: SimulatedAgent[] = [];

function start({ port, domain, notes, seed, name, members }: Extract<Order, { order: "start" }>): void {
  const dice = createDice(seed);
  const notebook = openNotebook(notes);
  setInterval(() => notebook.flush(), FLUSH_EVERY_MS);
  let sendings = 0;
  let welcomes = 0;
  const report = (message: Report) => void process.send?.(message);
  for (const member of members) {
    const agent = startAgent(member, {
      port,
      domain,
      dice,
      notebook,
      nextSending: () => {
        sendings += 1;
        return `${name}-${sendings}`;
      },
      onAttached: () => {
        welcomes += 1;
        if (welcomes <= members.length) report({ attached: welcomes });
      },
      heldByAnother: (than) => {
        const holders = agents.filter((one) => one !== than && one.held.size > 0);
        const [first] = holders[below(dice, holders.length)]?.held.values() ?? [];
        return first?.job;
      },
    });
    agents.push(agent);
  }
  // A kill would lose it, and the next process would compile everything again.
  flushCompileCache();
  process.once("SIGTERM", () => {
    notebook.flush();
    process.exit(0);
  });
}

process.on("message", (order: Order) => {
  if (order.order === "start") start(order);
  else agents[order.target]?.trouble(order.what);
});
// The parent has ended, so the simulation ends.
process.once("disconnect", () => process.exit(0));
