import { describe, expect, it } from "vitest";
import { createPki, daysFromNow, issue, type IssueOptions } from "#test/servers/pki.ts";
import type { NameConstraintOptions, Subtrees } from "#test/servers/pki-extensions.ts";
import { ascii, der, sequence } from "#test/servers/der.ts";
import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const pki = await createPki();

/** Returns the errors of a leaf under an authority with the given constraints, except the host name. */
async function under(nameConstraints: NameConstraintOptions, leaf: IssueOptions): Promise<string[]> {
  const authority = await issue({ subject: "Constrained", ca: true, issuer: pki.root, nameConstraints });
  const issued = await issue({ ...leaf, issuer: authority });
  return verifyChain({
    leaf: issued.pem,
    intermediates: [authority.pem],
    roots: [pki.root.pem],
    host: "unused.example",
    now: daysFromNow(0),
  }).errors.filter((error) => error !== "hostname_mismatch");
}

/** Returns for each leaf whether it satisfies the constraints. */
async function allowed(permitted: Subtrees, excluded: Subtrees, leaves: IssueOptions[]): Promise<boolean[]> {
  const verdicts: boolean[] = [];
  // An empty list is malformed (RFC 5280 section 4.2.1.10: SIZE (1..MAX)).
  const written = (side: Subtrees): boolean => Object.keys(side).length > 0;
  const constraints = { ...(written(permitted) && { permitted }), ...(written(excluded) && { excluded }) };
  for (const leaf of leaves) {
    const errors = await under(constraints, leaf);
    expect([[], ["name_constraints"]]).toContainEqual(errors);
    verdicts.push(errors.length === 0);
  }
  return verdicts;
}

/** Encodes a DER Name with one O attribute. */
function organization(name: string): Uint8Array {
  return sequence(der(0x31, sequence(Buffer.from("0603550 40a".replace(" ", ""), "hex"), ascii(0x13, name))));
}

describe("name constraints", () => {
  it("permit a domain and all names below it", async () => {
    const leaves = ["example.com", "a.b.example.com", "*.example.com", "notexample.com", "other.org"];
    const verdicts = await allowed(
      { dns: ["EXAMPLE.com"] },
      {},
      leaves.map((name) => ({ dns: [name] })),
    );
    expect(verdicts).toEqual([true, true, true, false, false]);
  });

  it("apply to every name of the leaf", async () => {
    expect(await allowed({ dns: ["example.com"] }, {}, [{ dns: ["a.example.com", "b.org"] }])).toEqual([false]);
  });

  it("exclude a domain, also if a wildcard matches it", async () => {
    const leaves = ["a.example.com", "secret.example.com", "x.secret.example.com", "*.example.com", "*.org"];
    const verdicts = await allowed(
      {},
      { dns: ["secret.example.com"] },
      leaves.map((name) => ({ dns: [name] })),
    );
    expect(verdicts).toEqual([true, false, false, false, true]);
  });

  it("give exclusions priority over permissions", async () => {
    const leaves = [{ dns: ["a.example.com"] }, { dns: ["b.example.com"] }];
    expect(await allowed({ dns: ["example.com"] }, { dns: ["a.example.com"] }, leaves)).toEqual([false, true]);
  });

  it("refuse names that are not host names and mailboxes with more than one @", async () => {
    expect(await allowed({ dns: ["example.com"] }, {}, [{ dns: [".example.com"] }])).toEqual([false]);
    expect(await allowed({ email: ["example.com"] }, {}, [{ email: ["a@b@example.com"] }])).toEqual([false]);
  });

  it("are not allowed in a server's own certificate", async () => {
    const leaf = { dns: ["a.example.com"], nameConstraints: { permitted: { dns: ["example.com"] } } };
    expect(await under({ permitted: { dns: ["example.com"] } }, leaf)).toEqual(["name_constraints"]);
  });

  it("do not apply to types of names that they do not list", async () => {
    expect(await allowed({ dns: ["example.com"] }, {}, [{ ip: ["192.0.2.1"] }])).toEqual([true]);
  });

  it("cover addresses by mask in both families", async () => {
    const permitted = { ip: [[192, 0, 2, 0, 255, 255, 255, 0]] };
    const leaves = [{ ip: ["192.0.2.77"] }, { ip: ["192.0.3.1"] }, { ip: ["2001:db8::1"] }];
    expect(await allowed(permitted, {}, leaves)).toEqual([true, false, false]);
    const six = { ip: [[0x20, 0x01, 0x0d, 0xb8, ...Array(12).fill(0), 255, 255, 255, 255, ...Array(12).fill(0)]] };
    expect(await allowed({}, six, [{ ip: ["2001:db8::1"] }, { ip: ["2001:db9::1"] }])).toEqual([false, true]);
  });

  it("cover mailboxes, URIs and the subject", async () => {
    const mail = [{ email: ["a@example.com"] }, { email: ["a@mail.example.com"] }, { email: ["b@other.org"] }];
    expect(await allowed({ email: ["example.com"] }, {}, mail)).toEqual([true, false, false]);
    expect(await allowed({ email: [".example.com"] }, {}, mail)).toEqual([false, true, false]);
    const links = [
      { uri: ["https://www.example.com/x"] },
      { uri: ["https://192.0.2.1/"] },
      { uri: ["https://b.org/"] },
    ];
    expect(await allowed({ uri: [".example.com"] }, {}, links)).toEqual([true, false, false]);
    const subjects = [{ subject: "O=Acme, CN=x" }, { subject: "O=ACME , CN=y" }, { subject: "CN=x, O=Acme" }];
    expect(await allowed({ directory: [organization("Acme")] }, {}, subjects)).toEqual([true, true, false]);
  });

  it("apply to all certificates below the authority, also if the authority is a root", async () => {
    const root = await issue({
      subject: "Narrow root",
      ca: true,
      nameConstraints: { permitted: { dns: ["example.com"] } },
    });
    const below = await issue({ subject: "Below", ca: true, issuer: root });
    const judge = async (name: string): Promise<boolean> => {
      const leaf = await issue({ dns: [name], issuer: below });
      const roots = [root.pem];
      return verifyChain({ leaf: leaf.pem, intermediates: [below.pem], roots, host: name, now: daysFromNow(0) })
        .trusted;
    };
    expect(await judge("a.example.com")).toBe(true);
    expect(await judge("a.example.org")).toBe(false);
  });

  it("apply to the names of authorities below, except self-issued ones", async () => {
    const nameConstraints = { permitted: { directory: [organization("Acme")] } };
    const root = await issue({ subject: "O=Acme", ca: true, nameConstraints });
    const judge = async (subject: string): Promise<string[]> => {
      const below = await issue({ subject, ca: true, issuer: root });
      const leaf = await issue({ subject: "O=Acme, CN=x", dns: ["a.example"], issuer: below });
      const [intermediates, roots] = [[below.pem], [root.pem]];
      return verifyChain({ leaf: leaf.pem, intermediates, roots, host: "a.example", now: daysFromNow(0) }).errors;
    };
    expect(await judge("O=Acme, CN=Below")).toEqual([]);
    expect(await judge("O=Other")).toEqual(["name_constraints"]);
    expect(await judge("O=Acme")).toEqual([]);
  });

  it("that cannot be parsed make the chain malformed", async () => {
    expect(await under({}, { dns: ["a.example"] })).toEqual(["malformed"]);
  });

  it("of hostile size are refused with little work", async () => {
    const many = (count: number, suffix: string) => Array.from({ length: count }, (_, index) => `n${index}.${suffix}`);
    const before = cpuTime();
    const errors = await under({ permitted: { dns: many(2000, "example") } }, { dns: many(2000, "sub.example.org") });
    expect(errors).toEqual(["name_constraints"]);
    expect(cpuTime() - before).toBeLessThan(10_000);
  });
});
