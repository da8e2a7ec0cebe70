import { describe, expect, it } from "vitest";
import { bodyFraming, createChunkedDecoder } from "#probe-agent/net/http/framing.ts";
import { parseHead } from "#probe-agent/net/http/response-head.ts";

function framingOf(fields: string, method = "GET", code = 200) {
  const head = parseHead(`HTTP/1.1 ${code} X\r\n${fields}\r\n\r\n`);
  if (head === null) throw new Error("no head");
  const { framing, fault } = bodyFraming(method, head);
  return `${framing.kind === "length" ? framing.bytes : framing.kind}${fault === null ? "" : ` ${fault}`}`;
}

describe("bodyFraming", () => {
  it.each([
    ["", "close"],
    ["Content-Length: 5", "5"],
    ["Content-Length: 5\r\nContent-Length: 5", "5"],
    ["Content-Length: 5, 5", "5"],
    ["Content-Length: 5\r\nContent-Length: 6", "close bad_content_length"],
    ["Content-Length: -5", "close bad_content_length"],
    ["Content-Length: 0x5", "close bad_content_length"],
    ["Content-Length:", "close bad_content_length"],
    [`Content-Length: 9${"0".repeat(30)}`, "close bad_content_length"],
    ["Transfer-Encoding: chunked\r\nContent-Length: 5", "chunked"],
    ["transfer-encoding: Chunked", "chunked"],
    ["Transfer-Encoding: gzip, chunked", "chunked unsupported_transfer_coding"],
    ["Transfer-Encoding: gzip", "close unsupported_transfer_coding"],
  ])("%j is framed by %s", (fields, expected) => expect(framingOf(fields)).toBe(expected));

  it("recognises responses without a body, regardless of their fields", () => {
    expect(framingOf("Content-Length: 5", "HEAD")).toBe("none");
    expect(framingOf("Content-Length: 5", "GET", 204)).toBe("none");
    expect(framingOf("Transfer-Encoding: chunked", "GET", 304)).toBe("none");
  });

  it("reads a length of sixty thousand blanks quickly", () => {
    expect(framingOf(`Content-Length: 1${" ".repeat(60_000)}x`)).toBe("close bad_content_length");
  });
});

describe("createChunkedDecoder", () => {
  function decode(pieces: readonly string[]): string {
    const unchunk = createChunkedDecoder();
    let text = "";
    for (const piece of pieces) {
      const { data, done, error } = unchunk(Buffer.from(piece, "latin1"));
      text += Buffer.concat(data).toString("latin1");
      if (error !== null) return `${text}!${error}`;
      if (done) return `${text}.`;
    }
    return text;
  }
  const BODY = "5\r\nhello\r\n6;name=value\r\n world\r\n0\r\nX-Trailer: 1\r\n\r\n";

  it("joins the chunks for any split of the octets", () => {
    for (let cut = 0; cut <= BODY.length; cut += 1) {
      expect(decode([BODY.slice(0, cut), BODY.slice(cut)]), `cut at ${cut}`).toBe("hello world.");
    }
    expect(decode(Array.from(BODY))).toBe("hello world.");
  });

  it("reads bare line feeds and upper-case sizes, and ignores what follows the end", () => {
    expect(decode(["A\n0123456789\n0\n\nmore"])).toBe("0123456789.");
  });

  it.each([
    ["x\r\n", "!bad_chunk"],
    ["-1\r\n", "!bad_chunk"],
    ["\r\n", "!bad_chunk"],
    ["1\r\nabc\r\n", "a!bad_chunk"],
    ["1\r\nab", "a!bad_chunk"],
    ["fffffffffffff\r\n", "!bad_chunk"],
    [`1;${"e".repeat(20_000)}`, "!chunk_overhead"],
    [`0\r\n${"X: y\r\n".repeat(5000)}`, "!chunk_overhead"],
  ])("ends at %.20j with %s", (body, expected) => expect(decode([body])).toBe(expected));

  it("does not count the size lines of many genuine chunks as overhead", () => {
    expect(decode(["1\r\nx\r\n".repeat(30_000), "0\r\n\r\n"])).toBe(`${"x".repeat(30_000)}.`);
  });
});
