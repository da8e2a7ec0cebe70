import { describe, expect, it } from "vitest";
import { ID_BYTES, isReserved, PROBE_BYTES, readVersions, versionProbe } from "#probe-agent/net/quic-packet.ts";

const random = Uint8Array.from({ length: 20 }, (_, index) => 0x10 + index);
const probe = versionProbe(random);

function negotiation(options: { first?: number; to?: Uint8Array; by?: Uint8Array; list?: readonly number[] } = {}) {
  const { first = 0x80, to = probe.ids.source, by = probe.ids.destination, list = [0, 0, 0, 1] } = options;
  return Uint8Array.from([first, 0, 0, 0, 0, to.length, ...to, by.length, ...by, ...list]);
}

describe("the datagram that requests a server's QUIC versions", () => {
  it("is a long header of 1200 octets (RFC 9000 sections 14.1 and 17.2)", () => {
    expect(probe.datagram.length).toBe(1200);
    expect(PROBE_BYTES).toBe(1200);
    expect((probe.datagram[0] ?? 0) & 0xc0).toBe(0xc0);
  });

  it("names a version that is reserved to force negotiation (section 15)", () => {
    expect(new DataView(probe.datagram.buffer).getUint32(1)).toBe(probe.version);
    expect(probe.version.toString(16)).toMatch(/^(.a){4}$/);
    expect(isReserved(probe.version)).toBe(true);
    expect(versionProbe(new Uint8Array(20).fill(0xff)).version).toBe(0xfafafafa);
  });

  it("has two identifiers of eight octets, the minimum for a client (section 7.2)", () => {
    expect([...probe.datagram.subarray(5, 23)]).toEqual([8, ...random.slice(0, 8), 8, ...random.slice(8, 16)]);
    expect(ID_BYTES).toBe(8);
  });
});

describe("a Version Negotiation packet (RFC 9000 section 17.2.1)", () => {
  it("lists versions of four octets, each once", () => {
    const list = [0, 0, 0, 1, 0x6b, 0x33, 0x43, 0xcf, 0, 0, 0, 1];
    expect(readVersions(negotiation({ list }), probe)).toEqual([1, 0x6b3343cf]);
  });

  it("may have any value in the other bits of the first octet", () => {
    expect(readVersions(negotiation({ first: 0xff }), probe)).toEqual([1]);
  });

  it("is recognised by both identifiers, swapped, which only a receiver of the probe knows", () => {
    const { source, destination } = probe.ids;
    expect(readVersions(negotiation({ to: destination, by: source }), probe)).toBeNull();
    expect(readVersions(negotiation({ by: new Uint8Array(8) }), probe)).toBeNull();
    expect(readVersions(negotiation({ to: source.slice(0, 7) }), probe)).toBeNull();
    expect(readVersions(negotiation({ to: new Uint8Array(), by: new Uint8Array() }), probe)).toBeNull();
  });

  it("is discarded if it lists the requested version (section 6.2)", () => {
    const own = [24, 16, 8, 0].map((shift) => (probe.version >>> shift) & 0xff);
    expect(readVersions(negotiation({ list: [0, 0, 0, 1, ...own] }), probe)).toBeNull();
  });

  it.each([
    ["another version than 0", Uint8Array.from([0x80, 0, 0, 0, 1, ...negotiation().subarray(5)])],
    ["a short header", negotiation({ first: 0x40 })],
    ["no list", negotiation({ list: [] })],
    ["half an entry", negotiation({ list: [0, 0, 0, 1, 0, 0] })],
    ["nothing", new Uint8Array()],
    ["a length beyond the end", Uint8Array.from([0x80, 0, 0, 0, 0, 255, 1])],
    ["its head alone", negotiation().subarray(0, 14)],
  ])("%s is not accepted", (_what, datagram) => {
    expect(readVersions(datagram, probe)).toBeNull();
  });

  it("of any size is read within bounds", () => {
    const list = Array.from({ length: 64_000 }, (_, index) => (index % 4 === 3 ? (index >> 2) & 0xff : 0));
    expect(readVersions(negotiation({ list }), probe)?.length).toBeLessThanOrEqual(64);
  });
});
