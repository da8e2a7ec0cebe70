import { describe, expect, it } from "vitest";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";
import { readAuthenticationResults } from "#probe-agent/tools/email-header/authentication-results.ts";
import { readReceivedSpf } from "#probe-agent/tools/email-header/received-spf.ts";
import { readSignature } from "#probe-agent/tools/email-header/signature.ts";

const NOW = new Date("2024-01-03T00:00:00Z");

/** Returns each result as "method=result (reason) properties". */
function brief(value: string): string[] {
  return readAuthenticationResults(value).results.map(({ method, result, reason, properties }) => {
    const pairs = properties.map(({ type, property, value: told }) => ` ${type}.${property}=${told}`).join("");
    return `${method}=${result}${reason === null ? "" : ` (${reason})`}${pairs}`;
  });
}

describe("RFC 8601 appendix B", () => {
  it("B.2: no authentication was done", () => {
    expect(readAuthenticationResults("example.org 1; none")).toEqual({
      authservId: "example.org",
      version: 1,
      results: [],
      malformed: false,
    });
  });

  it("B.3: one authentication", () => {
    expect(brief("example.com;\r\n          spf=pass smtp.mailfrom=example.net")).toEqual([
      "spf=pass smtp.mailfrom=example.net",
    ]);
  });

  it("B.4: several authentications by one host", () => {
    const result = analyseHeaders(
      [
        "Authentication-Results: example.com;",
        "          auth=pass (cram-md5) smtp.auth=sender@example.net;",
        "          spf=pass smtp.mailfrom=example.net",
        "Authentication-Results: example.com; iprev=pass",
        "          policy.iprev=192.0.2.200",
        "Received: from dialup-1-2-3-4.example.net",
        "              (dialup-1-2-3-4.example.net [192.0.2.200])",
        "          by mail-router.example.com (8.11.6/8.11.6)",
        "              with ESMTPA id g1G0r1kA003489;",
        "          Fri, Feb 15 2002 17:19:07 -0800",
        "Date: Fri, Feb 15 2002 16:54:30 -0800",
        "From: sender@example.net",
      ].join("\r\n"),
      NOW,
    );
    expect(result.auth).toMatchObject({
      authserv_id: "example.com",
      confirmed: true,
      spf: { result: "pass", domain: "example.net" },
      others: [
        { method: "auth", result: "pass", reason: "cram-md5" },
        { method: "iprev", result: "pass", reason: null },
      ],
    });
    expect(result).toMatchObject({ date: "2002-02-16T00:54:30.000Z", date_to_first_hop_s: 1477 });
  });

  it("B.5: several authentications by different hosts of one organization", () => {
    const result = analyseHeaders(
      [
        "Authentication-Results: example.com;",
        "          dkim=pass (good signature) header.d=example.com",
        "Received: from mail-router.example.com",
        "              (mail-router.example.com [192.0.2.1])",
        "          by auth-checker.example.com (8.11.6/8.11.6)",
        "              with ESMTP id i7PK0sH7021929;",
        "          Fri, Feb 15 2002 17:19:22 -0800",
        "DKIM-Signature:  v=1; a=rsa-sha256; s=gatsby; d=example.com;",
        "          t=1188964191; c=simple/simple; h=From:Date:To:Subject:",
        "          Message-Id:Authentication-Results;",
        "          bh=sEuZGD/pSr7ANysbY3jtdaQ3Xv9xPQtS0m70;",
        "          b=EToRSuvUfQVP3Bkz ... rTB0t0gYnBVCM=",
        "Authentication-Results: example.com;",
        "          auth=pass (cram-md5) smtp.auth=sender@example.com;",
        "          spf=fail smtp.mailfrom=example.com",
        "Received: from dialup-1-2-3-4.example.net",
        "              (dialup-1-2-3-4.example.net [192.0.2.200])",
        "          by mail-router.example.com (8.11.6/8.11.6)",
        "              with ESMTPA id g1G0r1kA003489;",
        "          Fri, Feb 15 2002 17:19:07 -0800",
        "From: sender@example.com",
      ].join("\r\n"),
      NOW,
    );
    expect(result.authentication_results.map(({ trusted }) => trusted)).toEqual([true, true]);
    expect(result.auth).toMatchObject({
      dkim: [{ result: "pass", reason: "good signature", domain: "example.com" }],
      spf: { result: "fail", domain: "example.com" },
    });
    expect(result.alignment.aligned).toBe(true);
    // The RFC's example has a signature of 2007 in a message of 2002.
    expect(result.dkim_signatures[0]).toMatchObject({
      result: "pass",
      issues: ["The tag b= is not base64.", "It was made after the message arrived (t=)."],
    });
  });

  it("B.6: several tiers, and an older field of another organization", () => {
    const result = analyseHeaders(
      [
        "Authentication-Results: example.com;",
        '      dkim=pass reason="good signature"',
        "        header.i=@mail-router.example.net;",
        '      dkim=fail reason="bad signature"',
        "        header.i=@newyork.example.com",
        "Received: from mail-router.example.net",
        "          (mail-router.example.net [192.0.2.250])",
        "      by chicago.example.com (8.11.6/8.11.6)",
        "      for <recipient@chicago.example.com>",
        "      with ESMTP id i7PK0sH7021929;",
        "      Fri, Feb 15 2002 17:19:22 -0800",
        "DKIM-Signature: v=1; a=rsa-sha256; s=furble;",
        "      d=mail-router.example.net; t=1188964198; c=relaxed/simple;",
        "      h=From:Date:To:Message-Id:Subject:Authentication-Results;",
        "      bh=ftA9J6GtX8OpwUECzHnCkRzKw1uk6FNiLfJl5Nmv49E=;",
        "      b=oINEO8hgn/gnunsg",
        "Authentication-Results: example.net;",
        "      dkim=pass (good signature) header.i=@newyork.example.com",
        "DKIM-Signature: v=1; a=rsa-sha256; s=gatsby;",
        "      d=newyork.example.com;",
        "      h=From:Date:To:Message-Id:Subject;",
        "      bh=sEu28nfs9fuZGD/pSr7ANysbY3jtdaQ3Xv9xPQtS0m7=;",
        "      b=EToRSuvUfQVP3Bkz",
        "From: sender@newyork.example.com",
      ].join("\r\n"),
      NOW,
    );
    expect(result.auth.dkim).toEqual([
      {
        result: "pass",
        reason: "good signature",
        domain: "mail-router.example.net",
        selector: null,
        identity: "@mail-router.example.net",
      },
      {
        result: "fail",
        reason: "bad signature",
        domain: "newyork.example.com",
        selector: null,
        identity: "@newyork.example.com",
      },
    ]);
    expect(result.authentication_results.map(({ authserv_id: id, trusted }) => [id, trusted])).toEqual([
      ["example.com", true],
      ["example.net", false],
    ]);
    expect(result.dkim_signatures.map(({ d, result: verdict }) => [d, verdict])).toEqual([
      ["mail-router.example.net", "pass"],
      ["newyork.example.com", "fail"],
    ]);
    expect(result.alignment.aligned).toBe(false);
  });

  it("B.7: comments in all allowed places", () => {
    const parsed = readAuthenticationResults(
      "foo.example.net (foobar) 1 (baz);\r\n    dkim (Because I like it) / 1 (One yay) = (wait for it) fail\r\n" +
        "      policy (A dot can go here) . (like that) expired\r\n      (this surprised me) = (as I wasn't expecting it) 1362471462",
    );
    expect(parsed).toEqual({
      authservId: "foo.example.net",
      version: 1,
      malformed: false,
      results: [
        {
          method: "dkim",
          methodVersion: 1,
          result: "fail",
          reason: null,
          properties: [{ type: "policy", property: "expired", value: "1362471462" }],
          comments: [
            "Because I like it",
            "One yay",
            "wait for it",
            "A dot can go here",
            "like that",
            "this surprised me",
            "as I wasn't expecting it",
          ],
        },
      ],
    });
  });
});

describe("Authentication-Results in practice", () => {
  it.each([
    ['"example.org"; none', []],
    ["example.org; none;", []],
    ["a; spf=pass smtp.mailfrom=;dkim=none", ["spf=pass smtp.mailfrom=", "dkim=none"]],
    ["a; spf=none smtp.mailfrom= smtp.helo=h.example", ["spf=none smtp.mailfrom= smtp.helo=h.example"]],
    ["a; spf=none smtp.mailfrom=<>", ["spf=none smtp.mailfrom=<>"]],
    ["a; dkim=pass header.b=abc/d+e== header.s=x", ["dkim=pass header.b=abc/d+e== header.s=x"]],
    ["a; iprev=pass smtp.remote-ip=2001:db8::1", ["iprev=pass smtp.remote-ip=2001:db8::1"]],
    ["a; DKIM=Pass (1024-bit key; unprotected) header.d=x.example", ["dkim=pass header.d=x.example"]],
    ['a; dkim=fail reason="signature; verification failed"', ["dkim=fail (signature; verification failed)"]],
    ["spf=pass smtp.mailfrom=x.example; dkim=pass", ["spf=pass smtp.mailfrom=x.example", "dkim=pass"]],
    ["a; spf = pass smtp . mailfrom = x.example", ["spf=pass smtp.mailfrom=x.example"]],
    ["a; garbage; spf=pass", ["spf=pass"]],
    ["", []],
    [";;;", []],
  ])("%s", (value, expected) => {
    expect(brief(value)).toEqual(expected);
  });

  it.each(["spf=pass", "a; garbage", "a b c; none", "a; (unclosed", 'a; spf=pass reason="x'])(
    "%s is malformed",
    (value) => {
      expect(readAuthenticationResults(value).malformed).toBe(true);
    },
  );
});

describe("RFC 7208 section 9.1", () => {
  it("a pass with its pairs", () => {
    const parsed = readReceivedSpf(
      "pass (mybox.example.org: domain of\r\n myname@example.com designates 192.0.2.1 as permitted sender)\r\n" +
        '    receiver=mybox.example.org; client-ip=192.0.2.1;\r\n    envelope-from="myname@example.com"; helo=foo.example.com;',
    );
    expect(parsed?.result).toBe("pass");
    expect(parsed?.comment).toContain("designates 192.0.2.1 as permitted sender");
    expect([...(parsed?.pairs ?? [])]).toEqual([
      ["receiver", "mybox.example.org"],
      ["client-ip", "192.0.2.1"],
      ["envelope-from", "myname@example.com"],
      ["helo", "foo.example.com"],
    ]);
  });

  it("a fail of the other identity, and one without semicolons", () => {
    const fail = readReceivedSpf('Fail (x) identity=mailfrom; client-ip=192.0.2.1; envelope-from="a@b.example";');
    expect([fail?.result, fail?.pairs.get("identity")]).toEqual(["fail", "mailfrom"]);
    const spaced = readReceivedSpf("SoftFail (x) client-ip=192.0.2.1 helo=h.example");
    expect([...(spaced?.pairs ?? [])]).toEqual([
      ["client-ip", "192.0.2.1"],
      ["helo", "h.example"],
    ]);
  });

  it.each(["", "(only a comment)", "123"])("%j is not a Received-SPF field", (value) => {
    expect(readReceivedSpf(value)).toBeNull();
  });
});

describe("RFC 6376", () => {
  it("section 3.5: the example with folded copied fields", () => {
    const signature = readSignature(
      "v=1; a=rsa-sha256; d=example.net; s=brisbane;\r\n   c=simple; q=dns/txt; i=@eng.example.net;\r\n" +
        "   t=1117574938; x=1118006938;\r\n   h=from:to:subject:date;\r\n   z=From:foo@eng.example.net|To:joe@example.com|\r\n" +
        "     Subject:demo=20run|Date:July=205,=202005=203:44:08=20PM=20-0700;\r\n" +
        "   bh=MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=;\r\n" +
        "   b=dzdVyOfAKCdLXdJOc9G2q8LoXSlEniSbav+yuU4zGeeruD00lszZ\r\n      VoG4ZHRNiYzR",
      "dkim",
    );
    expect(signature).toEqual({
      a: "rsa-sha256",
      b: "dzdVyOfAKCdLXdJOc9G2q8LoXSlEniSbav+yuU4zGeeruD00lszZVoG4ZHRNiYzR",
      bh: "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=",
      c: "simple/simple",
      cv: null,
      d: "example.net",
      h: ["from", "to", "subject", "date"],
      i: "@eng.example.net",
      l: null,
      q: "dns/txt",
      s: "brisbane",
      t: 1_117_574_938_000,
      x: 1_118_006_938_000,
      hasCopiedFields: true,
      issues: [],
    });
  });

  it("appendix A.2: spaces in the list of fields", () => {
    const signature = readSignature(
      "v=1; a=rsa-sha256; s=brisbane; d=example.com; c=simple/simple; q=dns/txt; i=joe@football.example.com;\r\n" +
        "  h=Received : From : To : Subject : Date : Message-ID;\r\n  bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=; b=AuUoFEfDxTDk",
      "dkim",
    );
    expect(signature.h).toEqual(["received", "from", "to", "subject", "date", "message-id"]);
    expect(signature.issues).toEqual([]);
  });

  const GOOD = { v: "1", a: "rsa-sha256", d: "b.example", s: "s", h: "from", bh: "QUJD", b: "QUJD" };

  it.each([
    [{ v: "2" }, "The version v= is not 1."],
    [{ a: "rsa-sha1" }, "Verifiers ignore signatures with the algorithm rsa-sha1 (RFC 8301)."],
    [{ a: "rot13" }, "The algorithm a= is unknown."],
    [{ d: "no domain" }, "The domain d= is not a domain name."],
    [{ s: "a b;c" }, "The field is not a list of tags."],
    [{ s: "-" }, "The selector s= is not a valid name."],
    [{ h: "to:subject" }, "From is not among the signed fields h=."],
    [{ i: "@other.example" }, "The identity i= is not in the domain d=."],
    [{ l: "100" }, "Only part of the body is signed (l=): anyone can append text to the message."],
    [{ t: "100", x: "50" }, "The signature expires (x=) before it was made (t=)."],
    [{ t: "soon" }, "The time t= is not a number."],
    [{ c: "strict" }, "The canonicalization c= is unknown."],
    [{ q: "ldap" }, "The query method q= is unknown, so the key cannot be fetched."],
    [{ bh: "???" }, "The tag bh= is not base64."],
    [{ b: "QQ" }, "The tag b= is not base64."],
    [{ a: "rsa-sha256; a=rsa-sha256" }, "The tag a= occurs more than once."],
  ])("%j is an issue", (tags, issue) => {
    const text = Object.entries({ ...GOOD, ...tags })
      .map(([name, value]) => `${name}=${value}`)
      .join("; ");
    expect(readSignature(text, "dkim").issues.map(({ message }) => message)).toContain(issue);
  });

  it.each(Object.keys(GOOD))("a missing %s= is an issue", (name) => {
    const text = Object.entries(GOOD)
      .filter(([key]) => key !== name)
      .map(([key, value]) => `${key}=${value}`)
      .join("; ");
    expect(readSignature(text, "dkim").issues).toContainEqual({
      id: "tag-missing",
      message: `The tag ${name}= is missing.`,
    });
  });

  it("ed25519-sha256 and a final semicolon are valid", () => {
    const text = Object.entries({ ...GOOD, a: "ed25519-sha256" })
      .map(([key, value]) => `${key}=${value};`)
      .join(" ");
    expect(readSignature(text, "dkim").issues).toEqual([]);
  });

  it("two signatures of one domain are distinguished only by header.b", () => {
    const lines = (start: string): string[] => [
      `Authentication-Results: a.example; dkim=pass header.d=b.example ${start}`,
      "DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; h=from; bh=QUJD; b=AAAAAAAAAAAA",
      "DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; h=from; bh=QUJD; b=BBBBBBBBBBBB",
    ];
    const verdicts = (start: string): (string | null)[] =>
      analyseHeaders(lines(start).join("\n"), NOW).dkim_signatures.map(({ result }) => result);
    expect(verdicts("header.b=BBBBBBBB")).toEqual([null, "pass"]);
    // Four characters can be equal by chance (RFC 6008 section 4 requires eight).
    expect(verdicts("header.b=BBBB")).toEqual([null, null]);
    expect(verdicts("")).toEqual([null, null]);
  });
});
