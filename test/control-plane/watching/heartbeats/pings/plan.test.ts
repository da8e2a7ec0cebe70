import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decoyOf } from "#control-plane/watching/heartbeats/decoy.ts";
import type { Ping } from "#control-plane/watching/heartbeats/ping.ts";
import { countedPings, planPings, toDecoys } from "#control-plane/watching/heartbeats/pings/recorder.ts";
import type { PingedToken, WaitingPing } from "#control-plane/watching/heartbeats/pings/queue.ts";
import type { FoundHeartbeat } from "#control-plane/watching/heartbeats/pings/store.ts";
import type { HeartbeatSettings } from "#control-plane/outages/kinds/heartbeat.ts";
import { encodeState } from "#control-plane/outages/state/encoding.ts";
import { NEW_STATE } from "#control-plane/outages/state/state.ts";
import { TEN_MINUTES, pingOf } from "#test/support/heartbeats/parts.ts";

const ENCRYPTION = { digest: (text: string | Uint8Array) => createHmac("sha256", "key").update(text).digest() };
const TOKEN = "0123456789abcdefghijklmnopqrstuv";

const waiting = (ping: Ping): WaitingPing => ({ ping, waiters: [] });

const pinged = (taken: readonly WaitingPing[], token = TOKEN): PingedToken => ({
  token,
  hash: Buffer.alloc(32),
  taken,
});

const found = (settings: Partial<HeartbeatSettings> = {}, over: Partial<FoundHeartbeat> = {}): FoundHeartbeat => ({
  index: 0,
  monitorId: 7,
  accountId: 2,
  version: 3,
  isActive: true,
  settings: JSON.stringify({ heartbeat: { ...TEN_MINUTES, ...settings }, repeat_minutes: null }),
  state: encodeState(NEW_STATE),
  pingCount: 4,
  lastPingAt: null,
  lastKind: null,
  lastDurationMs: null,
  succeededAt: null,
  openRuns: "[]",
  deadlineAt: null,
  verdicts: "[]",
  judgedNumber: 0,
  ...over,
});

describe("pings to an active heartbeat", () => {
  it("are answered by its schedule and written on top of the version that was read", () => {
    const planned = planPings(
      ENCRYPTION,
      pinged([waiting(pingOf("log", 1_000)), waiting(pingOf("log", 2_000))]),
      found(),
    );
    expect(planned.uncounted).toEqual([]);
    expect(planned.write).toMatchObject({ id: 7, version: 3, record: { pingCount: 6, verdicts: [] } });
    expect(planned.write?.pings.map(({ number }) => number)).toEqual([5, 6]);
    expect(planned.answers).toEqual([
      { nextExpected: 601_000, isCounted: true },
      { nextExpected: 602_000, isCounted: true },
    ]);
    expect(toDecoys([planned])).toEqual([]);
  });

  it("are answered with the next run of its cron expression", () => {
    const planned = planPings(ENCRYPTION, pinged([waiting(pingOf("log", 1_000))]), found({ cron: "30 2 * * *" }));
    expect(planned.answers).toEqual([{ nextExpected: 9_000_000, isCounted: true }]);
  });

  it("count for the run that they precede by seconds if they report a success", () => {
    const settings = { cron: "30 2 * * *" } as const;
    const answersTo = (ping: Ping) => planPings(ENCRYPTION, pinged([waiting(ping)]), found(settings)).answers;
    for (const ping of [pingOf("success", 8_996_000), { ...pingOf("exit", 8_996_000), exitCode: 0 }]) {
      expect(answersTo(ping)).toEqual([{ nextExpected: 95_400_000, isCounted: true }]);
    }
    for (const ping of [pingOf("start", 8_996_000), { ...pingOf("exit", 8_996_000), exitCode: 1 }]) {
      expect(answersTo(ping)).toEqual([{ nextExpected: 9_000_000, isCounted: true }]);
    }
  });

  it("are written with what they say about the status, behind what the state does not know yet", () => {
    const waits = found({}, { verdicts: '[[3,1,null,null],[4,2,"the run reported a failure",9]]', judgedNumber: 3 });
    const planned = planPings(ENCRYPTION, pinged([waiting(pingOf("success", 5))]), waits);
    expect(planned.write?.record.verdicts).toEqual([
      { number: 4, at: 2, fault: expect.objectContaining({ message: "the run reported a failure" }), durationMs: 9 },
      { number: 5, at: 5, fault: null, durationMs: null },
    ]);
  });

  it("by a method that it does not accept are answered alike and not recorded", () => {
    const taken = [waiting(pingOf("success", 5)), waiting(pingOf("success", 6, { method: "HEAD" }))];
    const planned = planPings(ENCRYPTION, pinged(taken), found({ methods: "post" }));
    expect(planned.write).toBe(null);
    expect(planned.uncounted).toHaveLength(2);
    expect(countedPings([waiting(pingOf("success", 5, { method: "POST" }))], { methods: "post" })).toHaveLength(1);
  });
});

describe("pings to an address without an active heartbeat", () => {
  it.each<readonly [string, FoundHeartbeat | null, string]>([
    ["that nobody has", null, TOKEN],
    ["of a paused one", found({}, { isActive: false }), TOKEN],
    ["of a monitor that is a heartbeat no longer", found({}, { settings: '{"heartbeat":null}' }), TOKEN],
    ["that is malformed", found(), "short"],
  ])("%s are answered by the decoy's period, and recorded by the decoy only", (_what, row, token) => {
    const decoy = decoyOf(ENCRYPTION, token);
    const planned = planPings(ENCRYPTION, pinged([waiting(pingOf("success", 9))], token), row);
    expect(planned.write).toBe(null);
    expect(planned.answers).toEqual([{ nextExpected: 9 + decoy.settings.period_seconds * 1_000, isCounted: false }]);
    expect(toDecoys([planned])).toMatchObject([{ id: decoy.id, record: { pingCount: 1 } }]);
  });
});

describe("what decoys record", () => {
  it("has the size of what was sent, and nothing of its content", () => {
    const secret = pingOf("fail", 1, { rid: "run-1", body: "secret", userAgent: "curl", remoteAddr: "203.0.113.9" });
    const [decoy] = toDecoys([planPings(ENCRYPTION, pinged([waiting(secret)]), null)]);
    expect(decoy?.pings).toMatchObject([
      { rid: " ".repeat(5), body: " ".repeat(6), userAgent: "    ", remoteAddr: "" },
    ]);
  });

  it("is one row for all addresses with the same decoy, which a statement can write once", () => {
    const plans = Array.from({ length: 600 }, (_, n) =>
      planPings(ENCRYPTION, pinged([waiting(pingOf("start", n))], `token-${n}`), null),
    );
    const decoys = toDecoys(plans);
    expect(new Set(decoys.map(({ id }) => id)).size).toBe(decoys.length);
    expect(decoys.reduce((sum, { pings }) => sum + pings.length, 0)).toBe(600);
    expect(decoys.every(({ record }) => record.openRuns.length === 0)).toBe(true);
  });
});
