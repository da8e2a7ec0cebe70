import { sortFindings } from "#shared/contracts/findings.ts";
import { describeCookieFindings } from "#probe-agent/tools/cookie/findings.ts";
import { reportCookies } from "#probe-agent/tools/cookie/report.ts";
import { expectWellFormed } from "#test/support/findings.ts";
import { describe, expect, it } from "vitest";
import { parseSetCookie } from "#probe-agent/analysis/web/cookies.ts";
import { parseCookieDate } from "#probe-agent/analysis/http/cookie-date.ts";
import { cookieIssues, gradeCookies } from "#probe-agent/tools/cookie/grade.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const URL_HERE = "https://www.example.com/dir/page";

function parse(line: string, url = URL_HERE) {
  return parseSetCookie(line, url, NOW);
}

describe("cookie dates (RFC 6265 section 5.1.1)", () => {
  const dates: Record<string, string | null> = {
    "Sun, 06 Nov 1994 08:49:37 GMT": "1994-11-06T08:49:37.000Z",
    "Sunday, 06-Nov-94 08:49:37 GMT": "1994-11-06T08:49:37.000Z",
    "Sun Nov  6 08:49:37 1994": "1994-11-06T08:49:37.000Z",
    "08:49:37 6 nov 94": "1994-11-06T08:49:37.000Z",
    "Mon, 10-Dec-2007 17:02:24 GMT": "2007-12-10T17:02:24.000Z",
    "Wed, 09 Jun 2021 10:18:14 PST": "2021-06-09T10:18:14.000Z",
    "Thu, 01-Jan-69 00:00:00 GMT": "2069-01-01T00:00:00.000Z",
    "Thu, 01-Jan-70 00:00:00 GMT": "1970-01-01T00:00:00.000Z",
    "1 January 2030 1:2:3": "2030-01-01T01:02:03.000Z",
    "Sat, 29 Feb 2028 00:00:00 GMT": "2028-02-29T00:00:00.000Z",
    "Fri, 30 Feb 2029 00:00:00 GMT": null,
    "Mon, 01 Jan 1600 00:00:00 GMT": null,
    "Mon, 01 Jan 2030 24:00:00 GMT": null,
    "Mon, 01 Jan 2030 00:60:00 GMT": null,
    "Mon, 32 Jan 2030 00:00:00 GMT": null,
    "Mon, 01 Jan 20300 00:00:00 GMT": null,
    "Mon, 01 Jan 2030": null,
    "": null,
  };
  for (const [text, iso] of Object.entries(dates)) {
    it(`reads ${JSON.stringify(text)} as ${iso}`, () => {
      expect(parseCookieDate(text)?.toISOString() ?? null).toBe(iso);
    });
  }
});

describe("reading a line (RFC 6265bis section 5.6)", () => {
  it("reads name, value, attributes and defaults", () => {
    expect(
      parse(" SID = 31d4d96e407aad42 ; Path=/; Secure; HttpOnly; SameSite=lAX; Partitioned; Priority=High"),
    ).toEqual({
      name: "SID",
      value: "31d4d96e407aad42",
      domain: "www.example.com",
      host_only: true,
      path: "/",
      expires: null,
      max_age_s: null,
      secure: true,
      http_only: true,
      same_site: "lax",
      same_site_invalid: false,
      partitioned: true,
      priority: "high",
      session: true,
      expires_at: null,
      size_bytes: 19,
      rejected_reason: null,
    });
    expect(parse("a=b")?.path).toBe("/dir");
  });

  it("accepts cookies without a name, and lines without a cookie", () => {
    expect(parse("token")).toMatchObject({ name: "", value: "token", rejected_reason: null });
    expect(parse("=token")).toMatchObject({ name: "", value: "token" });
    expect(parse("name=")).toMatchObject({ name: "name", value: "" });
    for (const line of ["", "=", " = ", ";Secure", "=;a=b"]) expect(parse(line)).toBeNull();
  });

  it("keeps quotes, further equal signs and commas", () => {
    expect(parse('a="b=c, d"')).toMatchObject({ name: "a", value: '"b=c, d"' });
  });

  it("uses the last of repeated attributes", () => {
    expect(parse("a=b; Path=/x; path=/y; SameSite=Strict; SameSite=no")).toMatchObject({
      path: "/y",
      same_site: null,
      same_site_invalid: true,
    });
    expect(parse("a=b; Path=/x; Path=y")?.path).toBe("/dir");
  });

  it("reads Max-Age only as digits and prefers it to Expires", () => {
    const cookie = parse("a=b; Max-Age=60; Expires=Sun, 06 Nov 1994 08:49:37 GMT");
    expect(cookie).toMatchObject({ max_age_s: 60, session: false, expires_at: new Date("2026-03-01T12:01:00Z") });
    expect(cookie?.expires?.toISOString()).toBe("1994-11-06T08:49:37.000Z");
    expect(parse("a=b; Max-Age=-5")?.max_age_s).toBe(-5);
    for (const value of ["", "1.5", "+5", "5 s", "0x5", "--1", "-"]) {
      expect(parse(`a=b; Max-Age=${value}`)?.max_age_s).toBeNull();
    }
  });

  it("shortens a long lifetime to 400 days and keeps the requested one", () => {
    const cookie = parse(`a=b; Max-Age=${"9".repeat(30)}`);
    expect(cookie?.max_age_s).toBe(Number.MAX_SAFE_INTEGER);
    expect(cookie?.expires_at?.toISOString()).toBe("2027-04-05T12:00:00.000Z");
  });

  it("ignores attributes above 1024 octets", () => {
    expect(parse(`a=b; Path=/${"x".repeat(1023)}`)?.path.length).toBe(1024);
    expect(parse(`a=b; Path=/${"x".repeat(1024)}`)?.path).toBe("/dir");
  });
});

describe("cookies that browsers drop (RFC 6265bis section 5.7)", () => {
  const rows: readonly (readonly [line: string, reason: string | null, url?: string])[] = [
    ["a=b; Domain=example.com", null],
    ["a=b; Domain=.EXAMPLE.com", null],
    ["a=b; Domain=", null],
    ["a=b; Domain=com", "public_suffix"],
    ["a=b; Domain=co.uk", "public_suffix", "https://example.co.uk/"],
    ["a=b; Domain=github.io", "public_suffix", "https://me.github.io/"],
    ["a=b; Domain=github.io", null, "https://github.io/"],
    ["a=b; Domain=other.com", "domain_mismatch"],
    ["a=b; Domain=ample.com", "domain_mismatch"],
    ["a=b; Domain=sub.www.example.com", "domain_mismatch"],
    ["a=b; Domain=0.0.1", "domain_mismatch", "https://127.0.0.1/"],
    ["a=b; Domain=127.0.0.1", null, "https://127.0.0.1/"],
    ["a=b; Domain=bücher.example", "domain_not_ascii"],
    ["a=b; Secure", "insecure_origin", "http://www.example.com/"],
    ["a=b; SameSite=None", "samesite_none_without_secure"],
    ["a=b; SameSite=None; Secure", null],
    ["a=b; Partitioned", "partitioned_without_secure"],
    ["__Secure-a=b", "secure_prefix"],
    ["__SECURE-a=b; Secure", null],
    ["__Host-a=b; Secure; Path=/", null],
    ["__Host-a=b; Secure", "host_prefix"],
    ["__Host-a=b; Secure; Path=/dir", "host_prefix"],
    ["__Host-a=b; Secure; Path=/; Domain=www.example.com", "host_prefix"],
    ["__host-a=b; Path=/", "host_prefix"],
    ["__Secure-a", "nameless_prefix"],
    ["=__Host-a=b", "nameless_prefix"],
    ["a=b\u0001", "control_character"],
    ["a=b; x=\u0000", "control_character"],
    ["a=b\t; Secure", null],
    [`a=${"b".repeat(4095)}`, null],
    [`a=${"b".repeat(4096)}`, "too_large"],
    [`a=${"é".repeat(2048)}`, "too_large"],
  ];
  for (const [line, reason, url] of rows) {
    it(`${reason ?? "keeps"}: ${JSON.stringify(line.slice(0, 60))}`, () => {
      expect(parse(line, url)?.rejected_reason).toBe(reason);
    });
  }
  it("scopes a kept domain cookie to the domain without its dot", () => {
    expect(parse("a=b; Domain=.EXAMPLE.com")).toMatchObject({ domain: "example.com", host_only: false });
  });
});

describe("grading", () => {
  const issues = (line: string) =>
    cookieIssues(parse(line) as NonNullable<ReturnType<typeof parse>>, "www.example.com", NOW);
  it("finds no weakness in a careful session cookie", () => {
    expect(issues("__Host-session=x; Secure; HttpOnly; SameSite=Lax; Path=/")).toEqual([]);
  });
  it("subtracts points for missing attributes", () => {
    expect(issues("PHPSESSID=x; Domain=example.com").map((issue) => [issue.id, issue.penalty])).toEqual([
      ["sensitive-without-secure", 40],
      ["session-without-httponly", 30],
      ["samesite-absent", 5],
      ["session-for-parent-domain", 5],
    ]);
    expect(issues("csrftoken=x; Secure").map((issue) => issue.id)).toEqual(["csrf-without-samesite"]);
    expect(issues("theme=x; Max-Age=99999999; SameSite=Bad").map((issue) => issue.id)).toEqual([
      "without-secure",
      "samesite-invalid",
      "lifetime-too-long",
    ]);
  });
  it("combines the worst cookie and the mean", () => {
    expect(gradeCookies([])).toEqual({ score: 100, grade: "A+" });
    expect(gradeCookies([[], issues("theme=x; SameSite=Lax")])).toEqual({ score: 84, grade: "B" });
  });
});

describe("findings of cookies", () => {
  const described = (line: string, url?: string) => {
    const report = reportCookies(
      [{ url: url ?? "https://www.example.com/", headers: [["Set-Cookie", line]] }],
      "https://www.example.com/",
      NOW,
    );
    const findings = sortFindings(describeCookieFindings(report.cookies));
    expectWellFormed(findings);
    return findings;
  };

  it.each<[id: string, severity: string, how: string, line: string]>([
    ["sensitive-without-secure", "warning", "Add Secure", "PHPSESSID=x; HttpOnly"],
    ["without-secure", "info", "Add Secure", "theme=x"],
    ["session-without-httponly", "warning", "Add HttpOnly", "PHPSESSID=x; Secure"],
    ["samesite-invalid", "warning", "SameSite=Lax", "theme=x; Secure; SameSite=Bad"],
    ["samesite-none-without-secure", "warning", "SameSite=None; Secure", "theme=x; SameSite=None"],
    ["csrf-without-samesite", "warning", "SameSite=Lax", "csrftoken=x; Secure"],
    ["samesite-absent", "info", "SameSite=Lax", "theme=x; Secure"],
    ["prefix-violated", "warning", "Path=/", "__Host-a=x; Secure; Domain=example.com; Path=/"],
    ["session-for-parent-domain", "info", "Remove Domain", "PHPSESSID=x; Domain=example.com"],
    ["lifetime-too-long", "info", "34560000", "theme=x; Max-Age=99999999"],
    ["too-large", "warning", "on the server", `theme=${"x".repeat(5000)}`],
    ["dropped-by-browsers", "warning", "Partitioned; Secure", "theme=x; Partitioned"],
    ["dropped-by-browsers", "warning", "your own domain", "theme=x; Domain=com"],
  ])("%s is of severity %s", (id, severity, how, line) => {
    const found = described(line).find((one) => one.id === id);
    expect(found).toMatchObject({ severity, where: line.split("=")[0] });
    expect(found?.how).toContain(how);
  });

  it("are empty for a cookie that the line deletes", () => {
    expect(described("theme=x; Max-Age=0")).toEqual([]);
  });
});
