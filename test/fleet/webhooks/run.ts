import { checkWebhooks, type WebhookVerdict } from "#test/fleet/webhooks/check.ts";
import { FAULTS } from "#test/fleet/webhooks/faults.ts";
import { openWorld } from "#test/fleet/webhooks/world.ts";
import { createDice, sample } from "#test/fleet/random.ts";

/** Faults that take long. Each occurs once in a run. */
const ONCE = new Set(["long outage of the database", "overdue deliveries at the start"]);

/** Settings of a run. */
interface RunOptions {
  readonly seed: number;
  readonly rounds: number;
  /** Names of the faults; default: all. */
  readonly only?: readonly string[];
  readonly log?: (line: string) => void;
}

/** Disturbs deliveries round by round, each with events and one fault, and checks what is left behind. */
export async function runRounds({ seed, rounds, only, log = () => {} }: RunOptions): Promise<WebhookVerdict> {
  const world = await openWorld(seed);
  try {
    for (const [round, name] of planRounds(seed, rounds, only ?? Object.keys(FAULTS)).entries()) {
      const began = Date.now();
      await FAULTS[name]?.(world);
      log(`${round + 1} ${name}: ${Date.now() - began} ms`);
    }
    return checkWebhooks(await world.finish());
  } finally {
    await world.end();
  }
}

/** Returns the fault of each round: every one in turn, in an order that follows from the seed. */
function planRounds(seed: number, rounds: number, names: readonly string[]): readonly string[] {
  const dice = createDice(seed);
  const plan: string[] = [];
  while (plan.length < rounds) {
    const isFirst = plan.length === 0;
    plan.push(...sample(dice, names, names.length).filter((name) => isFirst || !ONCE.has(name) || names.length === 1));
  }
  return plan.slice(0, rounds);
}
