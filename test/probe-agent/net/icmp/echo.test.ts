import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createDemux, type Demux } from "#probe-agent/net/icmp/demux.ts";
import { startEcho } from "#probe-agent/net/icmp/echo.ts";
import { createLagMeter } from "#probe-agent/net/icmp/lag.ts";
import type { PacketSocket } from "#probe-agent/net/icmp/socket.ts";
import type { EchoReply, EchoRequest } from "#probe-agent/port/packets.ts";
import { echoReply, icmpError, quotedIpv4 } from "#test/support/icmp-packets.ts";
import { systemClock } from "#test/support/clock.ts";

const TARGET = "198.18.0.1";
const clock = systemClock.monotonic.bind(systemClock);

/** An echo on its way, and the ways to answer it. */
interface Wire {
  readonly seq: number;
  /** Delivers a packet `delayMs` after the echo left, according to its time stamp. */
  deliver(packet: Buffer, delayMs: number, from?: string): void;
  reply(fields?: { readonly payload?: Buffer; readonly seq?: number; readonly id?: number }): Buffer;
  readonly packet: Buffer;
  readonly payload: Buffer;
}

/**
 * Runs echoes over a simulated wire that answers each one as instructed, and collects the replies until the run ends.
 */
function run(answer: (wire: Wire) => void, request: Partial<EchoRequest> = {}): Promise<EchoReply[]> {
  const demux: Demux = createDemux(() => randomBytes(2).readUInt16BE(0));
  const socket: PacketSocket = {
    version: 4,
    whenDrained: (then) => setImmediate(then),
    close: () => {},
    send(packet, _ip, _ttl, sent) {
      const at = clock();
      sent({ at });
      const payload = packet.subarray(8);
      const [id, seq] = [packet.readUInt16BE(4), packet.readUInt16BE(6)];
      answer({
        seq,
        packet,
        payload,
        deliver: (bytes, delayMs, from = TARGET) => {
          setImmediate(() => demux.deliver(4, bytes, { from, at: at + delayMs }));
        },
        reply: (fields) => echoReply(4, { id, seq, payload, ttl: 57, ...fields }),
      });
    },
  };
  const replies: EchoReply[] = [];
  return new Promise((resolve, reject) => {
    startEcho(
      { clock, random: randomBytes, demux, lag: createLagMeter(clock) },
      socket,
      { ip: TARGET, count: 1, intervalMs: 1, size: 56, ttl: 64, timeoutMs: 50, ...request },
      {
        reply: (reply) => replies.push(reply),
        done: () => resolve(replies),
        failed: (reason) => reject(new Error(reason)),
      },
    );
  });
}

describe("an echo", () => {
  it("is answered by the reply that contains its cookie, timed from send to receipt", async () => {
    const replies = await run((wire) => wire.deliver(wire.reply(), 12.5));
    expect(replies).toEqual([{ seq: 1, rttMs: expect.closeTo(12.5, 6) as number, ttl: 57, status: "ok" }]);
  });

  it("is not answered by another program's reply to the same id, nor by a reply of another run", async () => {
    const stranger = await run((wire) => wire.deliver(wire.reply({ payload: randomBytes(56) }), 5));
    expect(stranger).toEqual([{ seq: 1, rttMs: null, ttl: null, status: "timeout" }]);
    const unsent = await run((wire) => wire.deliver(wire.reply({ seq: 9 }), 5));
    expect(unsent.map(({ status }) => status)).toEqual(["timeout"]);
  });

  it("is late after a second, or three times the longest so far", async () => {
    const delays = [400, 1_100, 3_200, 3_400];
    const replies = await run((wire) => wire.deliver(wire.reply(), delays[wire.seq - 1] ?? 0), { count: 4 });
    expect(replies.map(({ seq, status }) => [seq, status])).toEqual([
      [1, "ok"],
      [2, "ok"],
      [3, "ok"],
      [4, "ok"],
    ]);
    const sudden = await run((wire) => wire.deliver(wire.reply(), wire.seq === 1 ? 10 : 1_010), { count: 2 });
    expect(sudden.map(({ status }) => status)).toEqual(["ok", "late"]);
    expect(sudden[1]?.rttMs).toBeCloseTo(1_010);
  });

  it("is answered once, and a second reply is a duplicate", async () => {
    const replies = await run(
      (wire) => {
        wire.deliver(wire.reply(), 1);
        if (wire.seq === 1) wire.deliver(wire.reply(), 2);
      },
      { count: 2, intervalMs: 20 },
    );
    expect(replies.map(({ seq, status }) => [seq, status])).toEqual([
      [1, "ok"],
      [1, "duplicate"],
      [2, "ok"],
    ]);
  });

  it("is corrupt if its payload changed, whether the checksum shows it or not", async () => {
    const changed = await run((wire) => {
      const payload = Buffer.from(wire.payload);
      payload.writeUInt8(payload.readUInt8(30) ^ 0xff, 30);
      wire.deliver(wire.reply({ payload }), 1);
    });
    expect(changed.map(({ status }) => status)).toEqual(["corrupt"]);
    const damagedCookie = await run((wire) => {
      const packet = wire.reply();
      packet.writeUInt8(packet.readUInt8(29) ^ 0xff, 29);
      wire.deliver(packet, 1);
    });
    expect(damagedCookie.map(({ status }) => status)).toEqual(["corrupt"]);
  });

  it("is unreachable or expired when an error quotes it, with the address of the sender", async () => {
    const replies = await run(
      (wire) => {
        const quote = quotedIpv4(1, TARGET, wire.packet.subarray(0, wire.seq === 1 ? 8 : 36));
        const error = wire.seq === 1 ? { type: 3, code: 13, quote } : { type: 11, code: 0, quote };
        wire.deliver(icmpError(4, error), 7, "198.18.0.254");
      },
      { count: 2 },
    );
    expect(replies).toEqual([
      { seq: 1, rttMs: null, ttl: null, status: "unreachable", code: 13, from: "198.18.0.254" },
      { seq: 2, rttMs: null, ttl: null, status: "ttl_exceeded", code: 0, from: "198.18.0.254" },
    ]);
  });

  it("is not affected by an error that quotes another cookie or another destination", async () => {
    const replies = await run((wire) => {
      const forged = Buffer.concat([wire.packet.subarray(0, 8), randomBytes(28)]);
      wire.deliver(icmpError(4, { type: 3, code: 1, quote: quotedIpv4(1, TARGET, forged) }), 1, "198.18.0.66");
      const elsewhere = quotedIpv4(1, "198.18.0.2", wire.packet);
      wire.deliver(icmpError(4, { type: 3, code: 1, quote: elsewhere }), 1, "198.18.0.66");
    });
    expect(replies.map(({ status }) => status)).toEqual(["timeout"]);
  });

  it("has the requested size and starts with eight random octets", async () => {
    const seen: Buffer[] = [];
    for (const size of [8, 9, 1_400]) {
      await run(
        (wire) => {
          seen.push(wire.payload);
          wire.deliver(wire.reply(), 1);
        },
        { size },
      );
    }
    expect(seen.map(({ length }) => length)).toEqual([8, 9, 1_400]);
    expect(new Set(seen.map((payload) => payload.subarray(0, 8).toString("hex"))).size).toBe(3);
  });
});

describe("a run", () => {
  it("reports the timeouts last, in order", async () => {
    const replies = await run((wire) => wire.seq === 2 && wire.deliver(wire.reply(), 1), { count: 4 });
    expect(replies.map(({ seq, status }) => [seq, status])).toEqual([
      [2, "ok"],
      [1, "timeout"],
      [3, "timeout"],
      [4, "timeout"],
    ]);
  });

  it("fails when its echoes cannot leave", async () => {
    const demux = createDemux(() => 7);
    const socket: PacketSocket = {
      version: 4,
      whenDrained: (then) => setImmediate(then),
      close: () => {},
      send: (_packet, _ip, _ttl, sent) => sent({ reason: "network_unreachable", message: "Network is unreachable" }),
    };
    const failure = await new Promise((resolve) => {
      startEcho(
        { clock, random: randomBytes, demux, lag: createLagMeter(clock) },
        socket,
        { ip: TARGET, count: 3, intervalMs: 1, size: 8, ttl: 64, timeoutMs: 50 },
        { reply: () => {}, done: () => resolve("done"), failed: (reason) => resolve(reason) },
      );
    });
    expect(failure).toBe("network_unreachable");
  });
});
