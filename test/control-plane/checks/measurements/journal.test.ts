import { describe, expect, it } from "vitest";
import { DatabaseAway } from "#control-plane/core/database/database-away.ts";
import { createJournal } from "#control-plane/checks/measurements/journal.ts";
import type { NewEvent } from "#control-plane/checks/measurements/journal-store.ts";

const event = (name: string, data = "{}"): NewEvent => ({ event: name, ordinal: 0, data, result: null });
const never = new AbortController().signal;

describe("a journal", () => {
  it("writes events in order, in consecutive batches", async () => {
    const written: [number, string[]][] = [];
    const journal = createJournal({
      write: (events, after) => {
        written.push([after, events.map(({ data }) => data)]);
        return Promise.resolve(true);
      },
      after: 7,
      signal: never,
      onLost: () => {},
    });
    for (let n = 0; n < 250; n += 1) journal.add(event("probe", String(n)));
    expect(await journal.settle()).toBe(true);
    expect(written.map(([after, events]) => [after, events.length])).toEqual([
      [7, 200],
      [207, 50],
    ]);
    expect(written.flatMap(([, events]) => events)).toEqual(Array.from({ length: 250 }, (_, n) => String(n)));
  });

  it("repeats a batch from the same start after the database was away", async () => {
    const begins: number[] = [];
    const journal = createJournal({
      write: (_events, after) => {
        begins.push(after);
        return begins.length === 1 ? Promise.reject(new DatabaseAway("gone")) : Promise.resolve(true);
      },
      after: 0,
      signal: never,
      onLost: () => {},
    });
    journal.add(event("probe"));
    expect(await journal.settle()).toBe(true);
    expect(begins).toEqual([0, 0]);
  });

  it("stops writing when the measurement no longer belongs to its claim", async () => {
    let lost = 0;
    let writes = 0;
    const journal = createJournal({
      write: () => {
        writes += 1;
        return Promise.resolve(false);
      },
      after: 0,
      signal: never,
      onLost: () => {
        lost += 1;
      },
    });
    journal.add(event("probe"));
    expect(await journal.settle()).toBe(false);
    journal.add(event("probe"));
    expect(await journal.settle()).toBe(false);
    expect(writes).toBe(1);
    expect(lost).toBeGreaterThan(0);
  });

  it("drops progress above the limits of number and size, and counts the dropped events", async () => {
    let kept = 0;
    let dropped = 0;
    const journal = createJournal({
      write: (events, _after, more) => {
        kept += events.length;
        dropped += more;
        return Promise.resolve(true);
      },
      after: 0,
      signal: never,
      onLost: () => {},
    });
    for (let n = 0; n < 100; n += 1) journal.add(event("progress", "x".repeat(16_000)));
    journal.add(event("result", "x".repeat(200_000)));
    await journal.settle();
    expect([kept, dropped]).toEqual([63, 38]);
  });
});
