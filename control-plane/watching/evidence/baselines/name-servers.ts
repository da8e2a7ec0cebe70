import type { App } from "#control-plane/core/app.ts";

/** Name servers of a domain, and when they were looked up. */
interface KnownServers {
  /** Sorted. */
  readonly names: readonly string[];
  /** Unix milliseconds. */
  readonly at: number;
}

/** A domain as one account sees it from one location. */
interface Question {
  readonly accountId: number;
  /** Registered domain. */
  readonly zone: string;
  readonly location: string;
}

/** Name servers of the domains of good checks, each looked up once a day. */
interface NameServers {
  /**
   * Returns what is known about a domain; null if nothing is. If it is older than a day, it is looked up again, and
   * `onAnswer` is called with the answer, if there is one.
   */
  read(question: Question, onAnswer: (found: KnownServers) => void): KnownServers | null;
  /** Looks nothing more up. */
  stop(): void;
}

const DAY_MS = 86_400_000;
/** Time after which a look-up without an answer is repeated, milliseconds. */
const AGAIN_MS = 3_600_000;
/** Maximum number of look-ups that wait. One runs at a time; others come again with the next good check. */
const MOST_WAITING = 1_000;
/** Maximum number of domains that are remembered. */
const MOST_REMEMBERED = 50_000;

/**
 * Creates an empty memory. `ask` looks up the name servers of a domain; null without an answer. It rejects while the
 * database is away.
 */
export function createNameServers({
  clock,
  ask,
}: Pick<App, "clock"> & { readonly ask: (question: Question) => Promise<readonly string[] | null> }): NameServers {
  const remembered = new Map<string, { found: KnownServers | null; askAt: number }>();
  const waiting: (() => Promise<void>)[] = [];
  let isRunning = false;
  let isStopped = false;

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next();
    isRunning = false;
  }

  return {
    read(question, onAnswer) {
      const key = `${question.accountId} ${question.zone}`;
      const now = clock.now().getTime();
      const known = remembered.get(key);
      if (isStopped || (known !== undefined && now < known.askAt) || waiting.length >= MOST_WAITING) {
        return known?.found ?? null;
      }
      if (remembered.size >= MOST_REMEMBERED) remembered.clear();
      remembered.set(key, { found: known?.found ?? null, askAt: now + AGAIN_MS });
      waiting.push(async () => {
        const names = isStopped ? null : await ask(question).catch(() => null);
        if (names === null || names.length === 0) return;
        const at = clock.now().getTime();
        const found = { names, at };
        remembered.set(key, { found, askAt: at + DAY_MS });
        onAnswer(found);
      });
      void run();
      return known?.found ?? null;
    },
    stop() {
      isStopped = true;
      waiting.length = 0;
    },
  };
}
