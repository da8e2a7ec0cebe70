import { describe, expect, it } from "vitest";
import { parseAltSvc } from "#probe-agent/analysis/http/alt-svc.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

function rows(...values: string[]): string[] {
  return (parseAltSvc(values)?.services ?? []).map(
    ({ alpn, host, port, maxAgeSeconds, persist }) =>
      `${alpn} ${host ?? "-"} ${port} ${maxAgeSeconds}${persist ? " persist" : ""}`,
  );
}

describe("Alt-Svc (RFC 7838 section 3)", () => {
  it.each([
    ['h2=":8000"', ["h2 - 8000 86400"]],
    ['h2="new.example.org:80"', ["h2 new.example.org 80 86400"]],
    ['h2="alt.example.com:8000", h2=":443"', ["h2 alt.example.com 8000 86400", "h2 - 443 86400"]],
    ['h2=":443"; ma=3600', ["h2 - 443 3600"]],
    ['h2=":443"; ma=2592000; persist=1', ["h2 - 443 2592000 persist"]],
    ['h3-25=":443"; ma=3600, h2=":443"; ma=3600', ["h3-25 - 443 3600", "h2 - 443 3600"]],
  ])("%s", (value, expected) => {
    expect(rows(value)).toEqual(expected);
    expect(parseAltSvc([value])?.problems).toEqual([]);
  });

  it.each([
    ["h2", "h2"],
    ["w%3Dx%3Ay#z", "w=x:y#z"],
    ["x%25y", "x%y"],
  ])("decodes the protocol name %s to %s", (token, name) => {
    expect(parseAltSvc([`${token}=":443"`])?.services[0]?.alpn).toBe(name);
  });

  it("clear withdraws all services, also those listed with it, and only in lower case", () => {
    expect(parseAltSvc(["clear"])).toEqual({ services: [], clear: true, problems: [] });
    expect(parseAltSvc(['h2=":443", clear'])).toMatchObject({ services: [], clear: true });
    expect(parseAltSvc(['h2=":443"', " clear "])).toMatchObject({ services: [], clear: true });
    expect(parseAltSvc(["Clear"])).toMatchObject({ clear: false, services: [] });
    expect(rows('clear=":443"')).toEqual(["clear - 443 86400"]);
  });

  it("reads several fields as one list and skips empty elements", () => {
    expect(rows('h3=":443"', ',, h2=":444" ,')).toEqual(["h3 - 443 86400", "h2 - 444 86400"]);
    expect(parseAltSvc([])).toBeNull();
  });

  it("ignores unknown parameters and invalid values", () => {
    expect(rows('quic=":443"; ma=60; v="46,43"; x')).toEqual(["quic - 443 60"]);
    expect(rows('h2=":443"; ma="60"; persist=2')).toEqual(["h2 - 443 60"]);
    expect(rows('h2=":443"; ma=-1')).toEqual(["h2 - 443 86400"]);
    expect(rows('h2=":443"; ma=99999999999999999999')).toEqual(["h2 - 443 2147483648"]);
    expect(rows('h3="[2001:db8::1]:443"')).toEqual(["h3 [2001:db8::1] 443 86400"]);
  });

  it.each([
    "h3=:443",
    'h3=""',
    'h3=":0"',
    'h3=":65536"',
    'h3="http://a:443"',
    'h3="a b:443"',
    '%zz=":443"',
    "h3",
    '=":443"',
  ])("%s is not a service and does not affect the next one", (element) => {
    const read = parseAltSvc([`${element}, h2=":1"`]);
    expect(read?.services.map(({ alpn }) => alpn)).toEqual(["h2"]);
    expect(read?.problems).toHaveLength(1);
  });

  it("reads any text in linear time and within bounds", () => {
    const hostile = [
      '"'.repeat(200_000),
      'h3="\\"'.repeat(50_000),
      "%41".repeat(90_000),
      `h3=":1",`.repeat(50_000),
      ",".repeat(300_000),
    ];
    const startedAt = cpuTime();
    for (const value of hostile) {
      const read = parseAltSvc([value]);
      expect((read?.services.length ?? 0) + (read?.problems.length ?? 0)).toBeLessThanOrEqual(100);
    }
    expect(cpuTime() - startedAt).toBeLessThan(2000);
  });
});
