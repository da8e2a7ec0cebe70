import type { Clock } from "#shared/time/clock.ts";

/** The database's time, continued by the host's monotonic clock between measurements. */
interface DatabaseClock extends Clock {
  /** Measures the database's time now. Rejects if the database is away. Call it every few seconds. */
  sync(): Promise<void>;
  /** Returns the database's clock minus the host's wall clock in milliseconds, as last measured. */
  offsetMs(): number;
}

/** Dependencies of the clock. */
interface DatabaseClockSource {
  readonly host: Clock;
  /** Reads the database's clock, in milliseconds since the epoch. */
  readonly readTime: () => Promise<number>;
}

/**
 * Creates a clock on which all replicas of one database agree. A measurement is accurate to half of its round trip. It
 * moves the clock only if the clock's time is outside that range, and then to the nearer end of it: time does not jitter
 * with the network, and an answer that is held back for seconds does not move it by half of them.
 */
export function createDatabaseClock({ host, readTime }: DatabaseClockSource): DatabaseClock {
  // Wall time = monotonic time + shift. Before the first measurement the host's wall clock is used.
  let shift = host.now().getTime() - host.monotonic();
  let measured = false;
  let measuring: Promise<void> | null = null;

  async function measure(): Promise<void> {
    const sent = host.monotonic();
    const databaseTime = await readTime();
    const received = host.monotonic();
    const uncertainty = (received - sent) / 2;
    const candidate = databaseTime - (sent + received) / 2;
    const known = measured ? shift : candidate;
    shift = Math.min(Math.max(known, candidate - uncertainty), candidate + uncertainty);
    measured = true;
  }

  async function sync(): Promise<void> {
    measuring ??= measure().finally(() => {
      measuring = null;
    });
    await measuring;
  }

  return {
    now: () => new Date(host.monotonic() + shift),
    monotonic: () => host.monotonic(),
    offsetMs: () => host.monotonic() + shift - host.now().getTime(),
    sync,
  };
}
