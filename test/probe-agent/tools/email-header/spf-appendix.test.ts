import { describe, expect, it } from "vitest";
import { trySpf, type SpfZone } from "#test/support/spf.ts";

/** The zone of RFC 7208 appendix A. */
const ZONE: SpfZone = {
  "example.com": { MX: ["10 mail-a.example.com", "20 mail-b.example.com"], A: ["192.0.2.10", "192.0.2.11"] },
  "amy.example.com": { A: ["192.0.2.65"] },
  "bob.example.com": { A: ["192.0.2.66"] },
  "mail-a.example.com": { A: ["192.0.2.129"] },
  "mail-b.example.com": { A: ["192.0.2.130"] },
  "www.example.com": { CNAME: ["example.com"] },
  "example.org": { MX: ["10 mail-c.example.org"] },
  "mail-c.example.org": { A: ["192.0.2.140"] },
  "10.2.0.192.in-addr.arpa": { PTR: ["example.com"] },
  "11.2.0.192.in-addr.arpa": { PTR: ["example.com"] },
  "65.2.0.192.in-addr.arpa": { PTR: ["amy.example.com"] },
  "66.2.0.192.in-addr.arpa": { PTR: ["bob.example.com"] },
  "129.2.0.192.in-addr.arpa": { PTR: ["mail-a.example.com"] },
  "130.2.0.192.in-addr.arpa": { PTR: ["mail-b.example.com"] },
  "140.2.0.192.in-addr.arpa": { PTR: ["mail-c.example.org"] },
  "10.0.0.4.in-addr.arpa": { PTR: ["bob.example.com"] },
};

async function resultsOf(policy: string, ips: readonly string[], zone: SpfZone = {}): Promise<string[]> {
  const all = { ...ZONE, ...zone, "example.com": { ...ZONE["example.com"], TXT: [policy] } };
  return Promise.all(ips.map(async (ip) => (await trySpf(all, { ip })).result));
}

describe("appendix A.1, simple examples", () => {
  const hosts = ["192.0.2.10", "192.0.2.11"];
  const mailers = ["192.0.2.129", "192.0.2.130"];
  const others = ["192.0.2.65", "192.0.2.140", "4.0.0.10"];

  it.each([
    ["v=spf1 +all", [...hosts, ...mailers, ...others], []],
    ["v=spf1 a -all", hosts, [...mailers, ...others]],
    ["v=spf1 a:example.org -all", [], [...hosts, ...mailers, ...others]],
    ["v=spf1 mx -all", mailers, [...hosts, ...others]],
    ["v=spf1 mx:example.org -all", ["192.0.2.140"], [...hosts, ...mailers]],
    ["v=spf1 mx mx:example.org -all", [...mailers, "192.0.2.140"], hosts],
    ["v=spf1 mx/30 mx:example.org/30 -all", ["192.0.2.131", "192.0.2.143"], ["192.0.2.132", "192.0.2.144"]],
    ["v=spf1 ptr -all", ["192.0.2.65", ...hosts, ...mailers], ["192.0.2.140", "4.0.0.10"]],
    ["v=spf1 ip4:192.0.2.128/28 -all", ["192.0.2.129", "192.0.2.140"], ["192.0.2.65"]],
  ])("%s", async (policy, passing, failing) => {
    expect(await resultsOf(policy, passing)).toEqual(passing.map(() => "pass"));
    expect(await resultsOf(policy, failing)).toEqual(failing.map(() => "fail"));
  });
});

describe("appendix A.2, several domains", () => {
  const zone: SpfZone = {
    "example.net": { TXT: ["v=spf1 a:example.com -all"] },
    "example.org": { ...ZONE["example.org"], TXT: ["v=spf1 include:example.com include:example.net -all"] },
    "la.example.org": { TXT: ["v=spf1 redirect=example.org"] },
    "ny.example.org": { TXT: ["v=spf1 redirect=example.org"] },
  };

  it("share one policy by include and redirect", async () => {
    const all = { ...ZONE, ...zone, "example.com": { ...ZONE["example.com"], TXT: ["v=spf1 mx -all"] } };
    for (const mailFrom of ["u@example.org", "u@la.example.org", "u@ny.example.org"]) {
      expect((await trySpf(all, { mailFrom, ip: "192.0.2.129" })).result).toBe("pass");
      expect((await trySpf(all, { mailFrom, ip: "192.0.2.10" })).result).toBe("pass");
      expect((await trySpf(all, { mailFrom, ip: "192.0.2.65" })).result).toBe("fail");
    }
  });
});

describe("appendix A.3, a blacklist in reverse", () => {
  it("passes only clients that are listed", async () => {
    const zone = {
      "mary.mobile-users._spf.example.com": { A: ["127.0.0.2"] },
      "fred.mobile-users._spf.example.com": { A: ["127.0.0.2"] },
      "15.15.168.192.joel.remote-users._spf.example.com": { A: ["127.0.0.2"] },
      "16.15.168.192.joel.remote-users._spf.example.com": { A: ["127.0.0.2"] },
    };
    const policy = "v=spf1 mx exists:%{l}.mobile-users._spf.%{d} exists:%{ir}.%{l}.remote-users._spf.%{d} -all";
    const all = { ...ZONE, ...zone, "example.com": { ...ZONE["example.com"], TXT: [policy] } };
    const from = async (local: string, ip: string) =>
      (await trySpf(all, { mailFrom: `${local}@example.com`, ip })).result;
    expect(await from("mary", "198.51.100.9")).toBe("pass");
    expect(await from("joel", "192.168.15.15")).toBe("pass");
    expect(await from("joel", "192.168.15.17")).toBe("fail");
    expect(await from("eve", "198.51.100.9")).toBe("fail");
    expect(await from("eve", "192.0.2.129")).toBe("pass");
  });
});

describe("appendix A.4, several requirements", () => {
  it("fail a client whose address or reverse name is not the domain's", async () => {
    const zone = {
      "ip4._spf.example.com": { TXT: ["v=spf1 -ip4:192.0.2.0/24 +all"] },
      "ptr._spf.example.com": { TXT: ["v=spf1 -ptr:example.com +all"] },
    };
    const policy = "v=spf1 -include:ip4._spf.%{d} -include:ptr._spf.%{d} +all";
    expect(await resultsOf(policy, ["192.0.2.65", "192.0.2.140", "4.0.0.10"], zone)).toEqual(["pass", "fail", "fail"]);
  });
});
