import type { Clock } from "#shared/clock.ts";

/** The database's time, carried by the host's monotonic clock between measurements. */
interface DatabaseClock extends Clock {
  /** Measures now; rejects when the database is away. Also done by itself every few seconds. */
  sync(): Promise<void>;
  /** Milliseconds from the host's wall clock to the database's, by the last measurement. */
  offsetMs(): number;
  /** Ends the measurements. */
  close(): void;
}

/** What the clock stands on. */
interface DatabaseClockSource {
  readonly host: Clock;
  /** Milliseconds since the epoch by the database's clock. */
  readonly readTime: () => Promise<number>;
  /** Milliseconds between measurements. */
  readonly everyMs?: number;
}

/**
 * A clock on which all replicas of one database agree. A measurement is known to half its round trip;
 * it moves the clock only where the present reading lies outside that, so time does not jitter with the network.
 */
export function createDatabaseClock({ host, readTime, everyMs = 5_000 }: DatabaseClockSource): DatabaseClock {
  // Wall time = monotonic time + this; before the first measurement the host's own word has to do.
  let shift = host.now().getTime() - host.monotonic();
  let measured = false;
  let measuring: Promise<void> | null = null;

  async function measure(): Promise<void> {
    const sent = host.monotonic();
    const databaseTime = await readTime();
    const received = host.monotonic();
    const uncertainty = (received - sent) / 2;
    const candidate = databaseTime - (sent + received) / 2;
    if (!measured || Math.abs(candidate - shift) > uncertainty) shift = candidate;
    measured = true;
  }

  async function sync(): Promise<void> {
    measuring ??= measure().finally(() => {
      measuring = null;
    });
    await measuring;
  }

  // A failed measurement is no event: the monotonic clock carries on, and whoever needs the database notices.
  const timer = setInterval(() => void sync().catch(() => {}), everyMs);
  timer.unref();

  return {
    now: () => new Date(host.monotonic() + shift),
    monotonic: () => host.monotonic(),
    offsetMs: () => host.monotonic() + shift - host.now().getTime(),
    sync,
    close: () => clearInterval(timer),
  };
}
