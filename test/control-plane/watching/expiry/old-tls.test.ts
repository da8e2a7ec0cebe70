import { describe, expect, it } from "vitest";
import { readExpiryDetails } from "#control-plane/watching/expiry/read/expiry-details.ts";
import { DAY_MS, openExpiryWorld, handshakeResult, fullResult } from "#test/control-plane/watching/expiry/world.ts";
import { createTestDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const START = new Date("2026-01-01T00:00:00Z");
const day = (days: number) => new Date(START.getTime() + days * DAY_MS);

const world = await stopAfterAll(openExpiryWorld(await createTestDatabase(), START));
const replica = world.openReplica();

/** The server speaks this version at most; null: the agent does not say which. */
const speak = (protocol: string | null, digit = "a") =>
  world.answer(() => {
    const described = handshakeResult({ digit, notBefore: day(-10), notAfter: day(80) });
    return fullResult(protocol === null ? described : { ...described, protocol });
  });

async function nextDay(): Promise<void> {
  world.advance(2 * DAY_MS);
  await replica.round();
}

describe("a server that speaks nothing newer than TLS 1.1", () => {
  let ids: readonly number[] = [];
  const advisory = async (id: number) =>
    (await readExpiryDetails(world.sql, [id], world.now())).get(id)?.advisory ?? null;
  const advisories = async (id: number) => (await world.events(id)).filter(({ type }) => type === "monitor.advisory");

  it("is an advisory of each of its monitors, and an event once", async () => {
    speak("TLSv1.1");
    ids = await world.addMonitors([
      { url: "https://old.example/", checkType: "http" },
      { url: "old.example", checkType: "ssl" },
    ]);
    await replica.round();
    const message = "The server speaks nothing newer than TLS 1.1; browsers refuse versions before TLS 1.2";
    for (const id of ids) {
      expect(await advisory(id)).toEqual({ since: START, locations: [], message });
      expect((await advisories(id)).map(({ data }) => data)).toMatchObject([
        { monitor: { id }, status: "up", cause: { code: "old_tls", message }, advisory: { locations: [], message } },
      ]);
    }
    speak("TLSv1", "b");
    await nextDay();
    for (const id of ids) expect(await advisories(id)).toHaveLength(1);
    expect((await advisory(ids[0] ?? 0))?.since).toEqual(START);
  });

  it("stays one while an older agent does not say what the server speaks", async () => {
    speak(null);
    await nextDay();
    expect(await advisory(ids[0] ?? 0)).not.toBeNull();
  });

  it("is none once it speaks a newer version, and a new one after that", async () => {
    speak("TLSv1.3");
    await nextDay();
    expect(await advisory(ids[0] ?? 0)).toBeNull();
    speak("TLSv1.1");
    await nextDay();
    expect((await advisory(ids[0] ?? 0))?.since).toEqual(world.now());
    expect(await advisories(ids[0] ?? 0)).toHaveLength(2);
  });

  it("has an event for a monitor that is added later, and none during maintenance", async () => {
    const [late = 0, quiet = 0] = await world.addMonitors([
      { url: "https://old.example/late", checkType: "http" },
      { url: "https://old.example/quiet", checkType: "http" },
    ]);
    await world.maintain([quiet], DAY_MS);
    await replica.round();
    expect([(await advisories(late)).length, (await advisories(quiet)).length]).toEqual([1, 0]);
    await nextDay();
    expect([(await advisories(late)).length, (await advisories(quiet)).length]).toEqual([1, 1]);
  });
});
