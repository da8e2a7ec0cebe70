import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { createHeadReader } from "#probe-agent/net/http/response-head.ts";
import { createGzipDecoder } from "#probe-agent/net/http/gzip.ts";
import { createOctets } from "#probe-agent/net/octets.ts";
import { readFlight } from "#probe-agent/net/tls/flight.ts";
import { createHelloReader } from "#probe-agent/net/tls/hello/decode.ts";
import { createFlightReader } from "#probe-agent/net/tls/hello/own-keys.ts";
import { octetsCopied } from "#test/support/copied.ts";

/** Copies for each octet received; joining all octets for each piece makes 30,000 of 64 KB. */
const MOST_COPIES = 8;

async function inSingleOctets(bytes: Uint8Array, push: (octet: Buffer) => unknown): Promise<number> {
  const pieces = Array.from(bytes, (octet) => Buffer.of(octet));
  return await octetsCopied(async () => {
    for (const piece of pieces) {
      const pushed = push(piece);
      if (pushed instanceof Promise) await pushed;
    }
  });
}

/** A handshake record that announces more than comes. */
const RECORD = Buffer.concat([Buffer.of(22, 3, 3, 0x40, 0), Buffer.alloc(16_000, 1)]);

describe("octets", () => {
  it("are what was appended less what was dropped, and what was seen once stays", () => {
    const octets = createOctets();
    const seen: [Buffer, string][] = [];
    let expected = "";
    for (let step = 0; step < 500; step += 1) {
      const piece = String.fromCharCode(97 + (step % 26)).repeat(step % 40);
      octets.append(Buffer.from(piece));
      expected += piece;
      if (step % 3 === 0) {
        octets.drop(step % 17);
        expected = expected.slice(step % 17);
      }
      expect(octets.length).toBe(expected.length);
      seen.push([octets.view(), expected]);
    }
    for (const [view, text] of seen) expect(view.toString()).toBe(text);
  });
});

describe("what comes octet by octet is copied a few times at most", () => {
  it("a response head of 64 KB", async () => {
    const head = Buffer.from(`HTTP/1.1 200 OK\r\n${"X-Padding: aaaaaaaaaaaaaaaaaaaa\r\n".repeat(1980)}`);
    const read = createHeadReader();
    expect(await inSingleOctets(head, read)).toBeLessThan(MOST_COPIES * head.length);
  });

  it("the answer to a hello", async () => {
    const reader = createHelloReader(true);
    expect(await inSingleOctets(RECORD, (octet) => reader.push(octet))).toBeLessThan(MOST_COPIES * RECORD.length);
  });

  it("a TLS flight", async () => {
    const { privateKey } = generateKeyPairSync("x25519", {
      privateKeyEncoding: { format: "pem", type: "pkcs8" },
      publicKeyEncoding: { format: "pem", type: "spki" },
    });
    const reader = createFlightReader(new Uint8Array(100), createPrivateKey(privateKey));
    expect(await inSingleOctets(RECORD, (octet) => reader.push(octet))).toBeLessThan(MOST_COPIES * RECORD.length);
  });

  it("a gzip header with a long name", async () => {
    const header = Buffer.concat([Buffer.of(0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3), Buffer.alloc(15_000, 97)]);
    const decoder = createGzipDecoder(() => undefined);
    const copied = await inSingleOctets(header, (octet) => decoder.write(octet));
    expect(copied).toBeLessThan(MOST_COPIES * header.length);
  });
});

it("a response head that comes octet by octet is searched for its end once, not again for each octet", () => {
  const head = Buffer.from(`HTTP/1.1 200 OK\r\n${"X-Padding: aaaaaaaaaaaaaaaaaaaa\r\n".repeat(1980)}`);
  const pieces = Array.from(head, (octet) => Buffer.of(octet));
  const read = createHeadReader();
  const indexOf = vi.spyOn(Buffer.prototype, "indexOf");
  let searched = 0;
  for (const piece of pieces) {
    read(piece);
    for (const [index, [, from]] of indexOf.mock.calls.entries()) {
      searched += (indexOf.mock.contexts[index] as Buffer).length - Number(from);
    }
    indexOf.mockClear();
  }
  indexOf.mockRestore();
  expect(searched).toBeGreaterThan(head.length);
  expect(searched).toBeLessThan(MOST_COPIES * head.length);
});

it("a server that repeats ChangeCipherSpec does not have its flight joined for each", async () => {
  // A TLS 1.3 ServerHello (RFC 8446 section 4.1.3) whose one extension is supported_versions.
  const hello = Buffer.concat([
    Buffer.of(3, 3),
    Buffer.alloc(32, 7),
    Buffer.of(0, 0x13, 0x01, 0, 0, 6, 0, 0x2b, 0, 2, 3, 4),
  ]);
  const message = Buffer.concat([Buffer.of(2, 0, 0, hello.length), hello]);
  const record = (body: Buffer) => Buffer.concat([Buffer.of(22, 3, 3, body.length >> 8, body.length & 0xff), body]);
  const padding = Array.from({ length: 6 }, () => record(Buffer.alloc(16_000, 0)));
  const changes = Buffer.alloc(6 * 10_000, Buffer.of(20, 3, 3, 0, 1, 1));
  const received = Buffer.concat([record(message), ...padding, changes]);
  const copied = await octetsCopied(() => void readFlight(received, null));
  expect(copied).toBeLessThan(MOST_COPIES * received.length);
});
