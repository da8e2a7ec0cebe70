import { describe, expect, it } from "vitest";
import { createPki, daysFromNow, issue, type Issued } from "#test/servers/pki.ts";
import { CLIENT_AUTH, SERVER_AUTH } from "#test/servers/pki-extensions.ts";
import { der } from "#test/servers/der.ts";
import { verifyChain, type ChainVerification } from "#probe-agent/analysis/tls/certificate.ts";

const pki = await createPki();
const HOST = "www.example.com";

function verify(
  leaf: Issued,
  intermediates: readonly Issued[] = [pki.intermediate],
  options: { readonly roots?: readonly Issued[]; readonly host?: string; readonly now?: Date } = {},
): ChainVerification {
  return verifyChain({
    leaf: leaf.pem,
    intermediates: intermediates.map(({ pem }) => pem),
    roots: (options.roots ?? [pki.root]).map(({ pem }) => pem),
    host: options.host ?? HOST,
    now: options.now ?? daysFromNow(0),
  });
}

const leaf = await pki.issue({ dns: [HOST] });
const good = { trusted: true, hostname_match: true, errors: [] };

describe("a chain that leads to a root", () => {
  it("is trusted, and its path runs from the leaf to the root", () => {
    const verification = verify(leaf);
    expect(verification).toMatchObject(good);
    expect(verification.path.map((certificate) => Buffer.from(certificate.der))).toEqual(
      [leaf, pki.intermediate, pki.root].map((issued) => Buffer.from(issued.der)),
    );
  });

  it("is trusted with intermediates in any order, repeated, and mixed with unrelated ones and the root", async () => {
    const stranger = await issue({ dns: ["stranger.example"] });
    expect(verify(leaf, [pki.root, stranger, pki.intermediate, leaf, pki.intermediate])).toMatchObject(good);
  });

  it("can be PEM bundles or DER", () => {
    const bundle = `# comment\n${pki.intermediate.pem}${pki.root.pem}`;
    const verification = verifyChain({
      leaf: leaf.der,
      intermediates: [bundle],
      roots: [pki.root.der],
      host: HOST,
      now: daysFromNow(0),
    });
    expect(verification).toMatchObject(good);
  });

  it("can begin at an anchor: a self-signed server certificate among the roots is trusted", async () => {
    const own = await issue({ dns: [HOST] });
    expect(verify(own, [], { roots: [own] })).toMatchObject(good);
  });

  it("can end at an intermediate that is among the roots", () => {
    expect(verify(leaf, [], { roots: [pki.intermediate] })).toMatchObject(good);
  });
});

describe("a chain that does not lead to a root", () => {
  it("is missing_intermediate if only the leaf is sent", () => {
    expect(verify(leaf, [])).toMatchObject({ trusted: false, hostname_match: true, errors: ["missing_intermediate"] });
  });

  it("is self_signed if the leaf is signed with its own key", async () => {
    expect(verify(await issue({ dns: [HOST] }), [])).toMatchObject({ trusted: false, errors: ["self_signed"] });
  });

  it("is untrusted_root if it ends at an unknown root, sent or not", async () => {
    const other = await createPki({ name: "Other" });
    const theirs = await other.issue({ dns: [HOST] });
    expect(verify(theirs, [other.intermediate, other.root]).errors).toEqual(["untrusted_root"]);
    expect(verify(theirs, [other.intermediate]).errors).toEqual(["untrusted_root"]);
  });

  it("is not trusted because of a root of the same name with another key", async () => {
    const impostor = await createPki();
    const theirs = await impostor.issue({ dns: [HOST] });
    expect(verify(theirs, [impostor.intermediate, impostor.root]).errors).toEqual(["untrusted_root"]);
    expect(verify(theirs, [pki.intermediate]).errors).toEqual(["bad_signature"]);
  });

  it("is untrusted_root if two authorities sign only each other", async () => {
    const a = await issue({ subject: "A", ca: true });
    const b = await issue({ subject: "B", ca: true });
    const aByB = await issue({ subject: "A", ca: true, key: a.keys, issuer: b });
    const bByA = await issue({ subject: "B", ca: true, key: b.keys, issuer: a });
    const below = await issue({ dns: [HOST], issuer: a });
    expect(verify(below, [aByB, bByA]).errors).toEqual(["untrusted_root"]);
  });

  it("is malformed if the leaf is not a certificate", () => {
    for (const text of ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"]) {
      const verification = verifyChain({ leaf: text, intermediates: [], roots: [], host: HOST, now: daysFromNow(0) });
      expect(verification).toMatchObject({ trusted: false, hostname_match: false, errors: ["malformed"] });
    }
  });
});

describe("dates", () => {
  it("are checked for the leaf, inclusive at both ends", async () => {
    const notBefore = new Date("2026-03-01T00:00:00Z");
    const notAfter = new Date("2026-03-31T23:59:59Z");
    const dated = await pki.issue({ dns: [HOST], notBefore, notAfter });
    const at = (now: string): string[] => verify(dated, undefined, { now: new Date(now) }).errors;
    expect(at("2026-02-28T23:59:59.999Z")).toEqual(["not_yet_valid"]);
    expect(at("2026-03-01T00:00:00Z")).toEqual([]);
    expect(at("2026-03-31T23:59:59Z")).toEqual([]);
    expect(at("2026-04-01T00:00:00Z")).toEqual(["expired"]);
  });

  it("are checked for intermediates and roots", async () => {
    const old = { notBefore: daysFromNow(-400), notAfter: daysFromNow(-1), ca: true };
    const expiredCa = await issue({ ...old, subject: "Expired CA", issuer: pki.root });
    expect(verify(await issue({ dns: [HOST], issuer: expiredCa }), [expiredCa]).errors).toEqual(["expired"]);
    const expiredRoot = await issue({ ...old, subject: "Expired root" });
    const below = await issue({ dns: [HOST], issuer: expiredRoot });
    expect(verify(below, [], { roots: [expiredRoot] }).errors).toEqual(["expired"]);
  });

  it("can be after 2050 (GeneralizedTime)", async () => {
    const notAfter = new Date("2150-01-01T00:00:00Z");
    const late = await pki.issue({ dns: [HOST], notAfter });
    expect(verify(late)).toMatchObject({ ...good, path: [{ notAfter }, {}, {}] });
  });
});

describe("several paths", () => {
  it("are tried until one is trusted: an expired cross-signed certificate does not matter", async () => {
    const authority = await issue({ subject: "Authority", ca: true, issuer: pki.root });
    const oldRoot = await issue({
      subject: "Old root",
      ca: true,
      notAfter: daysFromNow(-1),
      notBefore: daysFromNow(-9),
    });
    const cross = await issue({ subject: "Authority", ca: true, key: authority.keys, issuer: oldRoot });
    const below = await issue({ dns: [HOST], issuer: authority });
    expect(verify(below, [cross, oldRoot, authority], { roots: [oldRoot, pki.root] })).toMatchObject(good);
    expect(verify(below, [cross], { roots: [oldRoot, pki.root] }).errors).toEqual(["expired"]);
  });

  it("are found among many cross-signed certificates with loops", async () => {
    const names = ["M1", "M2", "M3", "M4"];
    const mesh = await Promise.all(names.map((subject) => issue({ subject, ca: true })));
    const crossed = await Promise.all(
      mesh.flatMap((issuer) =>
        mesh.filter((to) => to !== issuer).map((to) => issue({ subject: to.name, ca: true, key: to.keys, issuer })),
      ),
    );
    const [first, , , fourth] = mesh;
    if (!first || !fourth) throw new Error("the mesh has four authorities");
    const exit = await issue({ subject: fourth.name, ca: true, key: fourth.keys, issuer: pki.root });
    const below = await issue({ dns: [HOST], issuer: first });
    expect(verify(below, [...crossed, exit])).toMatchObject(good);
    expect(verify(below, crossed).errors).toEqual(["untrusted_root"]);
  });

  it("are distinguished by key if an authority of the same name has a new key", async () => {
    const [one, two] = await Promise.all([1, 2].map(() => issue({ subject: "Twin", ca: true, issuer: pki.root })));
    if (!one || !two) throw new Error("two twins");
    expect(verify(await issue({ dns: [HOST], issuer: two, noKeyIds: true }), [one, two])).toMatchObject(good);
  });
});

describe("authorities", () => {
  it("must be CA certificates", async () => {
    const notCa = await pki.issue({ subject: "Not a CA" });
    expect(verify(await issue({ dns: [HOST], issuer: notCa }), [notCa, pki.intermediate]).errors).toEqual([
      "not_a_ca",
      "path_too_long",
    ]);
    const bare = await issue({ subject: "Bare", ca: true, noBasicConstraints: true, issuer: pki.root });
    expect(verify(await issue({ dns: [HOST], issuer: bare }), [bare]).errors).toEqual(["not_a_ca"]);
    const mute = await issue({ subject: "Mute", ca: true, keyUsage: 1, issuer: pki.root });
    expect(verify(await issue({ dns: [HOST], issuer: mute }), [mute]).errors).toEqual(["not_a_ca"]);
  });

  it("cannot have more authorities below them than their path length allows", async () => {
    const one = await issue({ subject: "One", ca: true, pathLength: 1, issuer: pki.root });
    const two = await issue({ subject: "Two", ca: true, issuer: one });
    const three = await issue({ subject: "Three", ca: true, issuer: two });
    expect(verify(await issue({ dns: [HOST], issuer: two }), [one, two])).toMatchObject(good);
    expect(verify(await issue({ dns: [HOST], issuer: three }), [one, two, three]).errors).toEqual(["path_too_long"]);
  });

  it("that are limited to other uses cannot issue for servers", async () => {
    const mail = await issue({ subject: "Mail CA", ca: true, eku: ["1.3.6.1.5.5.7.3.4"], issuer: pki.root });
    expect(verify(await issue({ dns: [HOST], issuer: mail }), [mail]).errors).toEqual(["wrong_usage"]);
    const web = await issue({ subject: "Web CA", ca: true, eku: [SERVER_AUTH, CLIENT_AUTH], issuer: pki.root });
    expect(verify(await issue({ dns: [HOST], issuer: web }), [web])).toMatchObject(good);
  });
});

describe("the leaf", () => {
  it("must be allowed for servers", async () => {
    expect(verify(await pki.issue({ dns: [HOST], eku: [CLIENT_AUTH] })).errors).toEqual(["wrong_usage"]);
    expect(verify(await pki.issue({ dns: [HOST], eku: null }))).toMatchObject(good);
    expect(verify(await pki.issue({ dns: [HOST], keyUsage: 2 })).errors).toEqual(["wrong_usage"]);
  });

  it("must not have unknown critical extensions", async () => {
    const extra = (critical: boolean) => [{ oid: "1.3.6.1.4.1.55555.1", critical, value: der(0x05) }];
    expect(verify(await pki.issue({ dns: [HOST], extra: extra(true) })).errors).toEqual(["unknown_critical_extension"]);
    expect(verify(await pki.issue({ dns: [HOST], extra: extra(false) }))).toMatchObject(good);
  });

  it("must have readable extensions", async () => {
    for (const oid of ["2.5.29.17", "1.3.6.1.5.5.7.1.1", "2.5.29.31", "2.5.29.32", "1.3.6.1.5.5.7.1.24"]) {
      const extra = [{ oid, value: Buffer.from("malformed") }];
      const errors = verify(await pki.issue({ subject: "x", extra })).errors;
      expect(errors, oid).toEqual(["malformed", "hostname_mismatch"]);
    }
  });

  it("must have a strong key and signature", async () => {
    expect(verify(await pki.issue({ dns: [HOST], key: "rsa1024" })).errors).toEqual(["weak_key"]);
    expect(verify(await pki.issue({ dns: [HOST], key: "rsa2048" }))).toMatchObject(good);
    expect(verify(await pki.issue({ dns: [HOST], key: "ed25519" }))).toMatchObject(good);
    expect(verify(await pki.issue({ dns: [HOST], hash: "SHA-1" })).errors).toEqual(["weak_signature"]);
  });

  it("shows all faults, most severe first", async () => {
    const poor = await pki.issue({
      dns: ["a.example"],
      hash: "SHA-1",
      notBefore: daysFromNow(-9),
      notAfter: daysFromNow(-1),
    });
    expect(verify(poor, [])).toMatchObject({
      trusted: false,
      hostname_match: false,
      errors: ["expired", "missing_intermediate", "weak_signature", "hostname_mismatch"],
    });
  });
});

describe("keys and signatures above the leaf", () => {
  it("are checked for intermediates; for roots only the key is", async () => {
    const weakKey = await issue({ subject: "Weak key", ca: true, key: "rsa1024", issuer: pki.root });
    expect(verify(await issue({ dns: [HOST], issuer: weakKey }), [weakKey]).errors).toEqual(["weak_key"]);
    const weakHash = await issue({ subject: "Weak hash", ca: true, hash: "SHA-1", issuer: pki.root });
    expect(verify(await issue({ dns: [HOST], issuer: weakHash }), [weakHash]).errors).toEqual(["weak_signature"]);
    const oldRoot = await issue({ subject: "SHA-1 root", ca: true, key: "rsa2048", hash: "SHA-1" });
    expect(verify(await issue({ dns: [HOST], issuer: oldRoot }), [], { roots: [oldRoot] })).toMatchObject(good);
  });
});
