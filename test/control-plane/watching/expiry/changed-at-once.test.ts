import { describe, expect, it } from "vitest";
import {
  DAY_MS,
  MINUTE_MS,
  openExpiryWorld,
  handshakeResult,
  fullResult,
} from "#test/control-plane/watching/expiry/world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const START = new Date("2026-01-01T00:00:00Z");
const day = (days: number) => new Date(START.getTime() + days * DAY_MS);

const world = await stopAfterAll(openExpiryWorld(await createTestDatabase(), START));
const replica = world.openReplica();

/** The server has another certificate from now on. */
const install = (digit: string) =>
  world.answer(() => fullResult(handshakeResult({ digit, notBefore: day(-10), notAfter: day(80) })));
const print = (digit: string) => digit.repeat(64);

/** A monitor whose certificate "a" was looked at two minutes ago, as its checks have seen. */
async function watchOne(host: string): Promise<number> {
  install("a");
  const [id = 0] = await world.addMonitors([{ url: `https://${host}/`, checkType: "http" }]);
  await replica.round();
  world.advance(2 * MINUTE_MS);
  replica.note(id, print("a"));
  await replica.round();
  expect(await world.types(id)).toEqual([]);
  return id;
}

describe("a certificate that a check finds changed", () => {
  it("is looked at with the next round, also shortly after the last look", async () => {
    const id = await watchOne("one.example");
    install("b");
    await replica.round();
    replica.note(id, print("b"));
    await replica.round();
    expect(await world.types(id)).toEqual(["ssl.chain_changed"]);
  });

  it("is looked at ten minutes after the last look if another change was found a moment ago", async () => {
    const id = await watchOne("two.example");
    install("b");
    replica.note(id, print("b"));
    await replica.round();
    install("c");
    world.advance(MINUTE_MS);
    replica.note(id, print("c"));
    await replica.round();
    expect(await world.types(id)).toEqual(["ssl.chain_changed"]);
    world.advance(9 * MINUTE_MS);
    await replica.round();
    expect(await world.types(id)).toEqual(["ssl.chain_changed", "ssl.chain_changed"]);
  });

  it("is looked at once more if the look met a server that still had the one before", async () => {
    const id = await watchOne("three.example");
    replica.note(id, print("b"));
    await replica.round();
    expect(await world.types(id)).toEqual([]);
    install("b");
    for (let minute = 0; minute < 10; minute += 1) {
      world.advance(MINUTE_MS);
      replica.note(id, print("b"));
    }
    await replica.round();
    expect(await world.types(id)).toEqual(["ssl.chain_changed"]);
  });
});
