import { describe, expect, it } from "vitest";
import { createHeadReader, MAX_HEAD_BYTES, parseHead, type HeadProgress } from "#probe-agent/net/http/response-head.ts";

function head(text: string) {
  return parseHead(`${text}\r\n\r\n`);
}

describe("parseHead", () => {
  it("keeps order, case and repeats of header fields, and the reason phrase", () => {
    expect(head("HTTP/1.1 200 All right, then\r\nX-B: 1\r\nsEt-cOOkie: a=1\r\nX-A:2\r\nset-cookie:  b=2 \t")).toEqual({
      version: "1.1",
      code: 200,
      statusText: "All right, then",
      headers: [
        ["X-B", "1"],
        ["sEt-cOOkie", "a=1"],
        ["X-A", "2"],
        ["set-cookie", "b=2"],
      ],
      faults: [],
    });
  });

  it.each([
    ["HTTP/1.0 404 Not Found", "1.0", 404, "Not Found"],
    ["HTTP/1.1 204", "1.1", 204, ""],
    ["HTTP/1.1 999 ", "1.1", 999, ""],
    ["HTTP/2 200", "2", 200, ""],
    [`HTTP/1.1 200${" ".repeat(60_000)}\rx`, "1.1", 200, "x"],
  ])("reads the status line %.30s", (line, version, code, statusText) => {
    expect(head(line)).toMatchObject({ version, code, statusText });
  });

  it.each(["HTTP/1.1", "HTTP/1.1 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000", "HTTP/a.b 200", "ICY 200 OK", ""])(
    "takes %j for no status line",
    (line) => expect(head(line)).toBeNull(),
  );

  it("joins folded lines with a space and reports the fault", () => {
    const parsed = head("HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\n\t three");
    expect(parsed?.headers).toEqual([["X-Long", "one two three"]]);
    expect(parsed?.faults).toEqual(["obsolete_line_folding"]);
  });

  it("skips lines that are not header fields and reports each kind of fault once", () => {
    const parsed = head("HTTP/1.1 200 OK\nno colon\n: empty\nSpace : x\nBad(name): y\nagain no colon");
    expect(parsed?.headers).toEqual([
      ["Space", "x"],
      ["Bad(name)", "y"],
    ]);
    expect(parsed?.faults).toEqual([
      "bare_line_feed",
      "malformed_header_line",
      "space_before_colon",
      "invalid_header_name",
    ]);
  });

  it("keeps the octet A0 at the end of a value, which is not white space", () => {
    expect(head("HTTP/1.1 200 OK\r\nX: caf\u00c3\u00a0")?.headers).toEqual([["X", "caf\u00c3\u00a0"]]);
  });
});

describe("createHeadReader", () => {
  function feed(pieces: readonly string[]): HeadProgress {
    const read = createHeadReader();
    let progress: HeadProgress = { state: "more" };
    for (const piece of pieces) {
      progress = read(Buffer.from(piece, "latin1"));
      if (progress.state !== "more") break;
    }
    return progress;
  }

  it("finds the end for any split of the octets", () => {
    const text = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody";
    for (let cut = 0; cut <= text.length; cut += 1) {
      const progress = feed([text.slice(0, cut), text.slice(cut)]);
      if (progress.state !== "head") throw new Error(`cut at ${cut}: ${progress.state}`);
      expect(progress.head.headers).toEqual([["A", "b"]]);
    }
    const drip = feed(Array.from(text));
    expect(drip.state).toBe("head");
  });

  it("returns the octets after the head", () => {
    const progress = feed(["HTTP/1.1 200 OK\n\nbody"]);
    expect(progress.state === "head" && progress.rest.toString()).toBe("body");
  });

  it.each([["SSH-2.0-OpenSSH\r\n"], ["<html>"], ["\u0015\u0003\u0001"], ["http/1.1 200 OK\r\n\r\n"]])(
    "knows at once that %j is not HTTP",
    (text) => expect(feed([text])).toMatchObject({ state: "broken", reason: "not_http" }),
  );

  it("waits while the octets can still be the start of HTTP", () => {
    expect(feed(["H"]).state).toBe("more");
    expect(feed(["HTTP"]).state).toBe("more");
  });

  it("rejects a header of more than 64 KiB, complete or not", () => {
    const line = `X: ${"a".repeat(1000)}\r\n`;
    const lines = line.repeat(Math.ceil(MAX_HEAD_BYTES / line.length));
    expect(feed([`HTTP/1.1 200 OK\r\n${lines}`])).toMatchObject({ reason: "headers_overflow" });
    expect(feed([`HTTP/1.1 200 OK\r\n${lines}\r\n`])).toMatchObject({ reason: "headers_overflow" });
    expect(feed(["HTTP/1.1 200 OK\r\n", "a:\r\n".repeat(1001), "\r\n"])).toMatchObject({ reason: "headers_overflow" });
  });

  it("counts all heads of an exchange together", () => {
    const read = createHeadReader();
    const hint = Buffer.from(`HTTP/1.1 103 Early Hints\r\nX: ${"a".repeat(30_000)}\r\n\r\n`);
    expect([read(hint).state, read(hint).state, read(hint).state]).toEqual(["head", "head", "broken"]);
  });
});
