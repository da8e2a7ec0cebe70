/**
 * Measures the worst lag of the event loop while one run waits for answers. This bounds the error of its time stamps.
 */
interface LagReading {
  /** Records that a packet left and that an answer is possible. */
  opened(): void;
  /** Records that an answer arrived. */
  closed(): void;
  /** Ends the reading and returns the worst lag in milliseconds. */
  stop(): number;
}

/** Measures the event loop while at least one reading is open. */
export interface LagMeter {
  start(): LagReading;
}

interface Reading {
  worst: number;
  awaited: number;
  /** Whether an answer arrived since the last measurement. The lag before it may have delayed its time stamp. */
  answered: boolean;
}

// Short enough to notice a lag that would distort an RTT, long enough to cost nothing.
const TICK_MS = 2;

/** Creates a meter over a monotonic clock in milliseconds. */
export function createLagMeter(clock: () => number): LagMeter {
  const readings = new Set<Reading>();
  let armedAt: number | null = null;
  const arm = (): void => {
    armedAt = clock();
    setTimeout(tick, TICK_MS);
  };
  const measure = (): void => {
    if (armedAt === null) return;
    const lag = clock() - armedAt - TICK_MS;
    for (const reading of readings) {
      if (lag > reading.worst && (reading.awaited > 0 || reading.answered)) reading.worst = lag;
      reading.answered = false;
    }
  };
  const tick = (): void => {
    measure();
    armedAt = null;
    if (readings.size > 0) arm();
  };
  return {
    start() {
      const reading: Reading = { worst: 0, awaited: 0, answered: false };
      readings.add(reading);
      if (armedAt === null) arm();
      return {
        opened: () => (reading.awaited += 1),
        closed() {
          reading.awaited -= 1;
          reading.answered = true;
        },
        stop() {
          measure();
          readings.delete(reading);
          return reading.worst;
        },
      };
    },
  };
}
