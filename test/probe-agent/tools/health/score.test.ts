import { describe, expect, it } from "vitest";
import { LETTER_GRADES } from "#probe-agent/analysis/text/letter-grade.ts";
import { CHECK_IDS, CHECKS, type CheckId } from "#probe-agent/analysis/site/checks.ts";
import { assemble, findingsOf, gradeCaps, scoreHealth } from "#probe-agent/tools/health/report.ts";
import type { HealthSnapshot, TlsFacts } from "#probe-agent/analysis/site/snapshot.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { BARE, GOOD_HTML, GOOD_TLS, PERFECT } from "#test/probe-agent/analysis/site/snapshots.ts";

describe("the score", () => {
  it("is 100 and A+ for a site without faults", () => {
    const { score, grade, grade_caps, categories, recommendations } = scoreHealth(PERFECT);
    expect({ score, grade, grade_caps, recommendations }).toEqual({
      score: 100,
      grade: "A+",
      grade_caps: [],
      recommendations: [],
    });
    expect(categories.map(({ name, score: earned, max }) => `${name} ${earned}/${max}`)).toEqual([
      "Security Headers 30/30",
      "SSL/TLS 25/25",
      "Performance 25/25",
      "Best Practices 20/20",
    ]);
    const unfinished = categories.flatMap(({ checks }) => checks).filter((check) => check.status !== "pass");
    expect(unfinished.map((check) => `${check.id} ${check.status}`)).toEqual([]);
  });

  it("gives TLS no points and limits the grade to D if the site has no HTTPS", () => {
    const { grade, categories, grade_caps } = scoreHealth({ ...PERFECT, tls: BARE.tls, http: BARE.http });
    expect(categories[1]).toMatchObject({ name: "SSL/TLS", score: 0 });
    expect(grade).toBe("D");
    expect(grade_caps.map((cap) => `${cap.grade} ${cap.check}`)).toEqual(["D trust"]);
    expect(scoreHealth(BARE).grade).toBe("F");
  });

  it("applies the other caps", () => {
    const capped = (change: Partial<HealthSnapshot>) => {
      const { grade, grade_caps, score } = scoreHealth({ ...PERFECT, ...change });
      return [grade, grade_caps.map((cap) => `${cap.grade} ${cap.check}`).join(), score] as const;
    };
    const untrusted = { ...GOOD_TLS, trusted: false, errors: ["expired"] };
    expect(capped({ tls: untrusted })).toEqual(["F", "F trust", 92]);
    expect(capped({ tls: { ...GOOD_TLS, trusted: false, errors: ["hostname_mismatch"] } })[0]).toBe("F");
    expect(capped({ status: 503 })).toEqual(["F", "F status", 97]);
    const legacy = { ...GOOD_TLS, versions: { ssl3: false, below1_2: true, tls1_2: true, tls1_3: true } };
    expect(capped({ tls: legacy })).toEqual(["B", "B protocols", 97]);
    const headers = PERFECT.headers.map(
      (one): HeaderPair => (one[0].startsWith("strict") ? [one[0], "max-age=31536000"] : one),
    );
    expect(capped({ headers })).toEqual(["A+", "", 99]);
    const short = headers.map((one): HeaderPair => (one[0].startsWith("strict") ? [one[0], "max-age=15552000"] : one));
    expect(capped({ headers: short })).toEqual(["A", "A hsts", 95]);
  });

  it("sorts recommendations by points, then by id, with a severity by their effect on visitors", () => {
    const { recommendations } = scoreHealth(BARE);
    const sorted = recommendations.toSorted(
      (one, other) => other.points - one.points || (one.check < other.check ? -1 : 1),
    );
    expect(recommendations).toEqual(sorted);
    expect(recommendations[0]).toMatchObject({
      check: "csp",
      type: "warning",
      points: 9,
      category: "Security Headers",
    });
    const legacy = { ...GOOD_TLS, versions: { ssl3: false, below1_2: true, tls1_2: true, tls1_3: true } };
    expect(scoreHealth({ ...PERFECT, tls: legacy }).recommendations).toMatchObject([
      { check: "protocols", type: "warning", points: 3 },
    ]);
    expect(scoreHealth({ ...PERFECT, redirects: 2 }).recommendations).toMatchObject([
      { check: "redirects", type: "info" },
    ]);
  });
});

describe("severities", () => {
  const severities = (change: Partial<HealthSnapshot>): string[] =>
    scoreHealth({ ...PERFECT, ...change }).findings.map(({ id, severity }) => `${severity} ${id}`);
  const expired = { ...GOOD_TLS, trusted: false, errors: ["expired"], daysLeft: -3 };
  const suites = { known: true, broken: "TLS_RSA_WITH_RC4_128_SHA", open: false, fixed: null, cbc: null } as const;
  const old = { ssl3: false, below1_2: true, tls1_2: false, tls1_3: false };
  const body = { ...PERFECT.body, encoding: null };

  it.each<[string, Partial<HealthSnapshot>, string[]]>([
    ["missing compression costs speed", { body }, ["warning compression"]],
    ["gzip could be better", { body: { ...body, encoding: "gzip" } }, ["info compression"]],
    [
      "no security header lets an attacker in",
      { headers: [["content-type", "text/html"]] },
      [
        "warning csp",
        "warning hsts",
        "warning frame",
        "warning nosniff",
        "warning referrer",
        "warning isolation",
        "warning caching",
        "info permissions",
      ],
    ],
    ["an expired certificate keeps visitors away", { tls: expired }, ["critical trust", "critical expiry"]],
    ["one that ends soon will", { tls: { ...GOOD_TLS, daysLeft: 3 } }, ["warning expiry"]],
    ["versions nobody speaks keep visitors away", { tls: { ...GOOD_TLS, versions: old } }, ["critical protocols"]],
    ["RC4 is only a warning", { tls: { ...GOOD_TLS, suites } }, ["warning ciphers"]],
    ["no encryption is", { tls: { ...GOOD_TLS, suites: { ...suites, open: true } } }, ["critical ciphers"]],
    ["a missing page", { status: 404 }, ["critical status"]],
    ["a page behind a password", { status: 401 }, ["warning status"]],
    ["a page cut short", { body: { ...PERFECT.body, error: "reset" } }, ["critical total"]],
    ["a slow server", { ttfbSamplesMs: [5000] }, ["warning ttfb"]],
    [
      "no HTTPS is one fault",
      { tls: BARE.tls, preloaded: true },
      ["critical trust", "info https-redirect", "info protocols", "info ciphers", "info expiry", "info key"],
    ],
  ])("%s", (_what, change, expected) => {
    expect(severities(change).toSorted()).toEqual(expected.toSorted());
  });

  it("of recommendations are those of the findings, with the same advice", () => {
    const { recommendations, findings } = scoreHealth(BARE);
    const reported = new Map(findings.map(({ where, severity, message, how }) => [where, [severity, message, how]]));
    expect(reported).toEqual(
      new Map(recommendations.map(({ type, check, message, how }) => [check, [type, message, how]])),
    );
  });

  it("come with the cause of an untrusted certificate and what to change", () => {
    const how = "Renew the certificate.";
    const reason = {
      id: "expired",
      severity: "critical",
      message: "It expired.",
      how,
      reference: null,
      where: null,
    } as const;
    const { findings } = scoreHealth({ ...PERFECT, tls: { ...expired, reasons: [reason] } });
    expect(findings[0]).toMatchObject({
      id: "trust",
      message: "Trusted certificate: It expired. Browsers show visitors a warning.",
      how,
    });
  });
});

/** Returns a repeatable generator of numbers from 0 to 1 (a linear congruential generator). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function randomSnapshot(next: () => number): HealthSnapshot {
  const pick = <T>(...options: readonly T[]): T => options[Math.floor(next() * options.length)] as T;
  const headers = PERFECT.headers.flatMap(([name, value]): HeaderPair[] =>
    pick<HeaderPair[]>(
      [[name, value]],
      [],
      [[name, pick("", "max-age=0", "max-age=20000000", "unsafe-url", "x", "script-src *")]],
    ),
  );
  const page = pick(PERFECT.page, null, readHtml("<p>"), readHtml(`${GOOD_HTML}<script src=http://a.example/>`));
  const bool = (): boolean => next() < 0.5;
  const tls = {
    ...GOOD_TLS,
    trusted: bool(),
    daysLeft: pick(-5, 5, 20, 80),
    keyStrong: bool(),
    versions: { ssl3: pick(true, false, null), below1_2: pick(true, false, null), tls1_2: bool(), tls1_3: bool() },
    suites: pick<TlsFacts["suites"]>(GOOD_TLS.suites, unknown("why"), {
      known: true,
      broken: pick(null, "TLS_RSA_WITH_RC4_128_SHA"),
      open: bool(),
      fixed: pick(null, "TLS_RSA_WITH_AES_128_CBC_SHA"),
      cbc: pick(null, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"),
    }),
  };
  return {
    ...pick(PERFECT, BARE),
    status: pick(200, 301, 403, 404, 500),
    httpVersion: pick("1.0", "1.1", "2"),
    headers,
    redirects: pick(0, 1, 2, 5),
    totalMs: pick(100, 2000, 3000, 9000),
    ttfbSamplesMs: pick([50], [300, 900], [700, 1500, 2000], [5000]),
    body: {
      transferredBytes: pick(10, 200_000, 900_000, 5_000_000),
      decodedBytes: pick(10, 5_000_000),
      encoding: pick(null, "gzip", "br"),
      error: pick(null, null, "incomplete"),
      truncated: bool(),
    },
    page,
    tls: pick<HealthSnapshot["tls"]>(tls, BARE.tls, unknown("why")),
    preloaded: bool(),
    http: pick<HealthSnapshot["http"]>(PERFECT.http, BARE.http, { known: true, open: false }, unknown("why")),
    robots: pick<HealthSnapshot["robots"]>(PERFECT.robots, unknown("why"), {
      known: true,
      status: 503,
      url: "x",
      text: null,
    }),
    securityTxt: pick(PERFECT.securityTxt, BARE.securityTxt),
    ipv6: pick(PERFECT.ipv6, BARE.ipv6),
  };
}

describe("a thousand random sites", () => {
  const next = numbers(20_260_301);
  const snapshots = Array.from({ length: 1000 }, () => randomSnapshot(next));

  it("have the score that their categories and checks add up to", () => {
    for (const snapshot of snapshots) {
      const { score, grade, categories } = scoreHealth(snapshot);
      expect(categories.reduce((sum, category) => sum + category.score, 0)).toBe(score);
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(100);
      expect(LETTER_GRADES).toContain(grade);
      for (const { score: earned, max, checks } of categories) {
        const counted = checks.filter((check) => check.status !== "na");
        const available = counted.reduce((sum, check) => sum + check.max, 0);
        const points = counted.reduce((sum, check) => sum + check.score, 0);
        expect(earned).toBe(available === 0 ? max : Math.round((max * points) / available));
        for (const check of checks) expect(check.score).toBeLessThanOrEqual(check.max);
      }
    }
  });

  it("never score less if one check is fixed", () => {
    for (const snapshot of snapshots) {
      const findings = findingsOf(snapshot);
      const before = assemble(findings, gradeCaps(snapshot)).score;
      for (const id of CHECK_IDS) {
        if (findings[id].score === null) continue;
        const mended = { ...findings, [id]: { ...findings[id], score: CHECKS[id].max } };
        expect(assemble(mended, []).score).toBeGreaterThanOrEqual(before);
      }
    }
  });

  it("have recommendations for exactly the checks that do not pass", () => {
    for (const snapshot of snapshots) {
      const { categories, recommendations } = scoreHealth(snapshot);
      const open = categories
        .flatMap(({ checks }) => checks)
        .filter((check) => check.status === "warn" || check.status === "fail");
      expect(recommendations.map((one) => one.check).toSorted()).toEqual(open.map((check) => check.id).toSorted());
    }
  });

  it("have the same score each time", () => {
    for (const snapshot of snapshots.slice(0, 50)) expect(scoreHealth(snapshot)).toEqual(scoreHealth(snapshot));
  });
});

it("describes every check, and their points add up to 100", () => {
  const points = (ids: readonly CheckId[]): number => ids.reduce((sum, id) => sum + CHECKS[id].max, 0);
  expect(points(CHECK_IDS)).toBe(100);
  for (const id of CHECK_IDS) {
    expect(CHECKS[id].how).toMatch(/\.$/);
    expect(URL.canParse(CHECKS[id].reference)).toBe(true);
  }
});
