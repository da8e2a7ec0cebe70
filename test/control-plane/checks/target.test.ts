import { describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";
import type { Contract } from "#shared/tools/define.ts";
import { decideTarget } from "#control-plane/checks/target.ts";
import { echoTool } from "#test/control-plane/checks/echo-tool.ts";

const openAgent = createEgress({ targets: ["127.0.0.0/8"], names: ["lab.internal"] });
const plainAgent = createEgress(NO_ALLOW_LISTS);

function hostTool(kind: "host" | "domain" | "resource"): Contract {
  return { ...echoTool, target: { param: "url", kind, connects: kind === "host" } };
}

describe("a target", () => {
  it("on the public internet is allowed on every agent", () => {
    const decision = decideTarget(echoTool, { url: "https://example.com/" }, []);
    expect(decision).toMatchObject({ ok: true, params: { url: "https://example.com/" } });
    expect(decision.ok && decision.allows(plainAgent)).toBe(true);
  });

  it("that is a private address is allowed only on agents that list it", () => {
    const decision = decideTarget(echoTool, { url: "http://127.0.0.1/" }, [plainAgent, openAgent]);
    expect(decision.ok && decision.allows(openAgent)).toBe(true);
    expect(decision.ok && decision.allows(plainAgent)).toBe(false);
  });

  it.each(["http://127.0.0.1/", "http://0x7f.1/", "http://[::ffff:127.0.0.1]/", "http://localhost/", "http://router/"])(
    "%s is refused if no agent lists it",
    (url) => {
      expect(decideTarget(echoTool, { url }, [plainAgent])).toEqual({ ok: false, refused: true });
    },
  );

  it.each([
    "not a host",
    "nonsense",
    "javascript:1",
    "ftp://example.com/",
    "http://a\\b.example/",
    "http://exa\tmple.com/",
    "http://u:p@example.com/",
  ])("%j is not a valid URL, and the error names the field", (url) => {
    const decision = decideTarget(echoTool, { url }, [openAgent]);
    expect(decision).toMatchObject({ ok: false, refused: false, problem: { field: "url", reason: "invalid_url" } });
  });

  it("that is a URL without scheme is sent to agents with https", () => {
    const decision = decideTarget(echoTool, { url: "EXAMPLE.com/x" }, []);
    expect(decision).toMatchObject({ ok: true, host: "example.com", params: { url: "https://EXAMPLE.com/x" } });
  });

  it("that is a host name is normalised to lower-case A-labels", () => {
    expect(decideTarget(hostTool("host"), { url: "BÜCHER.example." }, [])).toMatchObject({
      ok: true,
      params: { url: "xn--bcher-kva.example" },
    });
  });

  it("that should be a host name is refused as a URL, with a helpful message", () => {
    const decision = decideTarget(hostTool("host"), { url: "https://example.com/x" }, []);
    expect(decision).toMatchObject({ ok: false, problem: { field: "url", reason: "type" } });
  });

  it("in the registries can be a name, an address or an AS number in any spelling", () => {
    const read = (url: string) => decideTarget(hostTool("resource"), { url }, []);
    for (const url of ["AS65546", "65546", "as065546", "AS1.10"]) {
      expect(read(url)).toMatchObject({ ok: true, host: "AS65546", params: { url: "AS65546" } });
    }
    expect(read("BÜCHER.example")).toMatchObject({ ok: true, params: { url: "xn--bcher-kva.example" } });
    expect(read("2001:4860:0::8888")).toMatchObject({ ok: true, params: { url: "2001:4860::8888" } });
    expect(read("10.0.0.1")).toEqual({ ok: false, refused: true });
    for (const url of ["99999999999", "example.com\r\nx", "a b", "https://example.com"]) {
      expect(read(url)).toMatchObject({ ok: false, refused: false, problem: { field: "url", reason: "type" } });
    }
  });

  it("that is only looked up can be a public suffix, but not an internal name", () => {
    expect(decideTarget(hostTool("domain"), { url: "com" }, [])).toMatchObject({ ok: true });
    expect(decideTarget(hostTool("domain"), { url: "printer.local" }, [])).toEqual({ ok: false, refused: true });
  });
});
