import { setImmediate as turn } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { openEventStream, type EventStream } from "#control-plane/http/event-stream.ts";

const REASON = { error: { reason: "slow_reader" } };
const open = (): EventStream => openEventStream(() => REASON);
const eventsOf = (written: string): string[] =>
  Array.from(written.matchAll(/^event: (\w+)$/gm), ([, name]) => name ?? "");

describe("an event stream that no client reads", () => {
  it.each([
    ["events", 1_100, "x"],
    ["octets", 100, "x".repeat(16_000)],
  ])("ends with a reason when too many %s of progress wait", async (_, events, data) => {
    const stream = open();
    for (let n = 0; n < events; n += 1) stream.send("progress", data);
    expect(stream.dropped.aborted).toBe(true);
    stream.send("result", "too late");
    stream.end();
    const written = await text(stream.body);
    // Waiting events are dropped: only those that the response already had are left.
    expect(written.length).toBeLessThan(40_000);
    expect(eventsOf(written).at(-1)).toBe("done");
    expect(eventsOf(written)).not.toContain("result");
    expect(written).toContain(`data: ${JSON.stringify(REASON)}\n\n`);
  });

  it("keeps results of any length until the client reads them", async () => {
    const stream = open();
    for (let n = 0; n < 20; n += 1) stream.send("result", "x".repeat(200_000));
    stream.end();
    expect(stream.dropped.aborted).toBe(false);
    expect(eventsOf(await text(stream.body))).toHaveLength(20);
  });
});

describe("an event stream that is read", () => {
  it("accepts any number of events", async () => {
    const stream = open();
    const written = text(stream.body);
    for (let n = 0; n < 5_000; n += 1) {
      stream.send("progress", n, n);
      if (n % 100 === 0) await stream.drained();
    }
    stream.end();
    expect(eventsOf(await written)).toHaveLength(5_000);
    expect(await written).toMatch(/^: open\n\nid: 0\nevent: progress\ndata: 0\n\n/);
    expect(stream.dropped.aborted).toBe(false);
  });

  it("reports when its reader has received everything or has disconnected", async () => {
    const stream = open();
    stream.send("result", "x".repeat(100_000));
    stream.send("result", "x".repeat(100_000));
    let isDrained = false;
    const drained = stream.drained().then(() => (isDrained = true));
    await turn();
    expect(isDrained).toBe(false);
    stream.body.destroy();
    await drained;
    expect(stream.dropped.aborted).toBe(true);
  });
});
