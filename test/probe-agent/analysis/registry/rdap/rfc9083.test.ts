import { describe, expect, it } from "vitest";
import { readIpNetwork } from "#probe-agent/analysis/registry/rdap.ts";
import { readAutnum } from "#probe-agent/analysis/registry/rdap/autnum.ts";
import { readDomain, readNameserver } from "#probe-agent/analysis/registry/rdap/domain.ts";
import { readEntities } from "#probe-agent/analysis/registry/rdap/entity.ts";

// Objects from the figures of RFC 9083, with the members that are read and those that could be mistaken for them.
const EVENTS = [
  { eventAction: "registration", eventDate: "1990-12-31T23:59:59Z" },
  { eventAction: "last changed", eventDate: "1991-12-31T23:59:59Z", eventActor: "joe@example.com" },
];
const REMARKS = [
  { description: ["She sells sea shells down by the sea shore.", "Originally written by Terry Sullivan."] },
];
const JOE = [
  "vcard",
  [
    ["version", {}, "text", "4.0"],
    ["fn", {}, "text", "Joe User"],
    ["n", {}, "text", ["User", "Joe", "", "", ["ing. jr", "M.Sc."]]],
    ["kind", {}, "text", "individual"],
    ["lang", { pref: "1" }, "language-tag", "fr"],
    ["lang", { pref: "2" }, "language-tag", "en"],
    ["org", { type: "work" }, "text", "Example"],
    ["title", {}, "text", "Research Scientist"],
    ["role", {}, "text", "Project Lead"],
    ["adr", { type: "work" }, "text", ["", "Suite 1234", "4321 Rue Somewhere", "Quebec", "QC", "G1V 2M2", "Canada"]],
    [
      "adr",
      { type: "home", label: "123 Maple Ave\nSuite 90001\nVancouver\nBC\n1239\n" },
      "text",
      ["", "", "", "", "", "", ""],
    ],
    ["tel", { type: ["work", "voice"], pref: "1" }, "uri", "tel:+1-555-555-1234;ext=102"],
    ["tel", { type: ["work", "cell", "voice", "video", "text"] }, "uri", "tel:+1-555-555-4321"],
    ["email", { type: "work" }, "text", "joe.user@example.com"],
    ["geo", { type: "work" }, "uri", "geo:46.772673,-71.282945"],
    ["key", { type: "work" }, "uri", "https://www.example.com/joe.user/joe.asc"],
    ["tz", {}, "utc-offset", "-05:00"],
    ["url", { type: "home" }, "uri", "https://example.org"],
  ],
];
const REGISTRANT = {
  objectClassName: "entity",
  handle: "XXXX",
  vcardArray: JOE,
  roles: ["registrant"],
  remarks: REMARKS,
};

describe("the entity of RFC 9083 section 5.1", () => {
  it("is read with its card, its roles and IANA's number", () => {
    const entity = {
      ...REGISTRANT,
      roles: ["registrar"],
      publicIds: [{ type: "IANA Registrar ID", identifier: "1" }],
      asEventActor: [{ eventAction: "last changed", eventDate: "1991-12-31T23:59:59Z" }],
    };
    expect(readEntities([entity])).toEqual([
      {
        handle: "XXXX",
        roles: ["registrar"],
        kind: "individual",
        name: "Joe User",
        organization: "Example",
        email: "joe.user@example.com",
        phone: "+1-555-555-1234;ext=102",
        url: "https://example.org",
        country: "Canada",
        iana_id: "1",
        parent: null,
      },
    ]);
  });

  it("has the entity that it belongs to as its parent", () => {
    const [outer, inner] = readEntities([{ ...REGISTRANT, entities: [{ roles: ["abuse"] }] }]);
    expect(inner?.parent).toBe(outer);
  });
});

describe("the name server of section 5.2", () => {
  const nameserver = {
    objectClassName: "nameserver",
    handle: "XXXX",
    ldhName: "ns1.xn--fo-5ja.example",
    unicodeName: "ns.fóo.example",
    status: ["active"],
    ipAddresses: { v4: ["192.0.2.1", "192.0.2.2"], v6: ["2001:db8::123"] },
    port43: "whois.example.net",
    events: EVENTS,
    remarks: REMARKS,
  };
  const same = (name: string) => name;

  it("is read with its addresses", () => {
    expect(readNameserver(nameserver, same)).toEqual({
      host: "ns1.xn--fo-5ja.example",
      addresses: ["192.0.2.1", "192.0.2.2", "2001:db8::123"],
    });
  });

  it.each([
    [{ objectClassName: "domain" }],
    [{ ldhName: "", unicodeName: "" }],
    [{ ldhName: "a b.example", unicodeName: 7 }],
    [{ ldhName: "x".repeat(300) }],
    [{ ldhName: "a\r\nb" }],
  ])("is none with %j", (fields) => {
    expect(readNameserver({ ...nameserver, ...fields }, same)).toBeNull();
  });

  it("drops texts that are not addresses", () => {
    const odd = { v4: ["x", 7, "192.0.2.1"], v6: "2001:db8::1" };
    expect(readNameserver({ ...nameserver, ipAddresses: odd }, same)?.addresses).toEqual(["192.0.2.1"]);
  });
});

describe("the domains of section 5.3", () => {
  it("are read: a reverse zone of a regional registry, with its network", () => {
    const domain = {
      objectClassName: "domain",
      handle: "XXXX",
      ldhName: "0.2.192.in-addr.arpa",
      nameservers: [
        { objectClassName: "nameserver", ldhName: "ns1.rir.example" },
        { objectClassName: "nameserver", ldhName: "ns2.rir.example" },
      ],
      secureDNS: {
        delegationSigned: true,
        dsData: [{ keyTag: 25_345, algorithm: 8, digestType: 2, digest: "2788970E18EA14C890C85B8205B94" }],
      },
      remarks: REMARKS,
      events: EVENTS,
      entities: [REGISTRANT],
      network: { objectClassName: "ip network", handle: "XXXX-RIR", startAddress: "192.0.2.0", status: ["allocated"] },
    };
    expect(readDomain(domain, "0.2.192.in-addr.arpa")).toEqual({
      handle: "XXXX",
      registrar: null,
      created: "1990-12-31T23:59:59.000Z",
      updated: "1991-12-31T23:59:59.000Z",
      expires: null,
      status: [],
      nameservers: [
        { host: "ns1.rir.example", addresses: [] },
        { host: "ns2.rir.example", addresses: [] },
      ],
      dnssec: {
        signed: true,
        ds: [{ key_tag: 25_345, algorithm: 8, digest_type: 2, digest: "2788970E18EA14C890C85B8205B94" }],
      },
      holder: { org: "Example", country: "Canada", redacted: false },
      redacted: [],
      related: null,
      port43: null,
    });
  });

  it("are read: an internationalized name with variants, from a name registry", () => {
    const domain = {
      objectClassName: "domain",
      handle: "XXXX",
      ldhName: "xn--fo-5ja.example",
      unicodeName: "fóo.example",
      variants: [
        { relation: ["registered"], variantNames: [{ ldhName: "xn--fo-cka.example", unicodeName: "fõo.example" }] },
      ],
      status: ["locked", "transfer prohibited"],
      publicIds: [{ type: "ENS_Auth ID", identifier: "1234567890" }],
      nameservers: [
        {
          objectClassName: "nameserver",
          handle: "XXXX",
          ldhName: "ns1.example.com",
          status: ["active"],
          ipAddresses: { v6: ["2001:db8::123", "2001:db8::124"], v4: ["192.0.2.1", "192.0.2.2"] },
        },
        { objectClassName: "nameserver", handle: "XXXX", ldhName: "ns2.example.com", status: ["active"] },
      ],
      secureDNS: {
        zoneSigned: true,
        delegationSigned: true,
        maxSigLife: 604_800,
        keyData: [{ flags: 257, protocol: 3, algorithm: 8, publicKey: "AwEAAa6eDzronzjEDbT..." }],
      },
      events: [
        ...EVENTS,
        { eventAction: "transfer", eventDate: "1991-12-31T23:59:59Z" },
        { eventAction: "expiration", eventDate: "2016-12-31T23:59:59Z", eventActor: "joe@example.com" },
      ],
      entities: [{ ...REGISTRANT, status: ["validated", "locked"] }],
      port43: "whois.example.net",
    };
    const read = readDomain(domain, "xn--fo-5ja.example");
    expect(read).toMatchObject({
      status: ["locked", "transfer prohibited"],
      expires: "2016-12-31T23:59:59.000Z",
      dnssec: { signed: true, ds: [] },
      holder: { org: "Example" },
      registrar: null,
      port43: "whois.example.net",
    });
    expect(read?.nameservers.map(({ host }) => host)).toEqual(["ns1.example.com", "ns2.example.com"]);
    // A registry can print the name in Unicode where A-labels belong.
    expect(readDomain({ ...domain, ldhName: "FÓO.example." }, "xn--fo-5ja.example")).not.toBeNull();
    expect(readDomain(domain, "xn--fo-cka.example")).toBeNull();
  });

  it.each([[null], [[]], ["x"], [{ errorCode: 404 }], [{ objectClassName: "nameserver", ldhName: "a.example" }]])(
    "are not %j",
    (value) => {
      expect(readDomain(value, "a.example")).toBeNull();
    },
  );

  it("with members of the wrong type have empty fields instead", () => {
    const odd = {
      status: "x",
      nameservers: {},
      secureDNS: [],
      events: 7,
      entities: "x",
      handle: {},
      links: 1,
      redacted: "x",
    };
    expect(readDomain({ objectClassName: "domain", ldhName: "a.example", ...odd }, "a.example")).toMatchObject({
      handle: null,
      registrar: null,
      status: [],
      nameservers: [],
      dnssec: { signed: null, ds: [] },
      holder: null,
      redacted: [],
      related: null,
    });
  });
});

describe("the network of section 5.4", () => {
  it("is read", () => {
    const network = {
      objectClassName: "ip network",
      handle: "XXXX-RIR",
      startAddress: "2001:db8::",
      endAddress: "2001:db8:0:ffff:ffff:ffff:ffff:ffff",
      ipVersion: "v6",
      name: "NET-RTR-1",
      type: "DIRECT ALLOCATION",
      country: "AU",
      parentHandle: "YYYY-RIR",
      status: ["active"],
      remarks: REMARKS,
      events: EVENTS,
      entities: [REGISTRANT],
    };
    expect(readIpNetwork(network, "2001:db8::1")).toMatchObject({
      cidr: "2001:db8::/48",
      network: {
        handle: "XXXX-RIR",
        name: "NET-RTR-1",
        country: "AU",
        parent_handle: "YYYY-RIR",
        organization: "Example",
      },
    });
  });
});

describe("the AS numbers of section 5.5", () => {
  const autnum = {
    objectClassName: "autnum",
    handle: "XXXX-RIR",
    startAutnum: 65_536,
    endAutnum: 65_541,
    name: "AS-RTR-1",
    type: "DIRECT ALLOCATION",
    status: ["active"],
    country: "AU",
    remarks: REMARKS,
    events: EVENTS,
    entities: [REGISTRANT],
  };

  it("are read", () => {
    expect(readAutnum(autnum, 65_537)).toEqual({
      handle: "XXXX-RIR",
      name: "AS-RTR-1",
      type: "DIRECT ALLOCATION",
      start_asn: 65_536,
      end_asn: 65_541,
      country: "AU",
      organization: "Example",
      status: ["active"],
      registered_at: "1990-12-31T23:59:59.000Z",
      changed_at: "1991-12-31T23:59:59.000Z",
      abuse_email: null,
      port43: null,
    });
  });

  it("are null for another range and for values that are not a range", () => {
    expect(readAutnum(autnum, 65_542)).toBeNull();
    expect(readAutnum({ ...autnum, startAutnum: "65536" }, 65_537)).toBeNull();
    expect(readAutnum({ ...autnum, objectClassName: "domain" }, 65_537)).toBeNull();
    expect(readAutnum({ ...autnum, startAutnum: undefined, endAutnum: undefined }, 65_537)?.start_asn).toBe(65_537);
  });
});

describe("redaction according to RFC 9537", () => {
  it("names the withheld fields and marks the holder as redacted", () => {
    const redacted = [
      {
        name: { description: "Registry Domain ID" },
        prePath: "$.handle",
        pathLang: "jsonpath",
        method: "removal",
        reason: { description: "Server policy" },
      },
      {
        name: { type: "Registrant Name" },
        postPath: "$.entities[0].vcardArray[1][?(@[0]=='fn')][3]",
        method: "emptyValue",
      },
      { name: {} },
      null,
    ];
    const base = { objectClassName: "domain", ldhName: "a.example" };
    expect(readDomain({ ...base, redacted }, "a.example")).toMatchObject({
      redacted: ["Registry Domain ID", "Registrant Name"],
      holder: { org: null, redacted: true },
    });
    expect(readDomain({ ...base, redacted: redacted.slice(0, 1) }, "a.example")?.holder).toBeNull();
  });

  it("is read from a remark of the older form too", () => {
    const remarks = [{ title: "REDACTED FOR PRIVACY", type: "object redacted due to authorization" }];
    const base = { objectClassName: "domain", ldhName: "a.example" };
    expect(readDomain({ ...base, remarks }, "a.example")?.holder?.redacted).toBe(true);
    const entities = [{ roles: ["registrant"], remarks }];
    expect(readDomain({ ...base, entities }, "a.example")?.holder?.redacted).toBe(true);
    expect(readDomain({ ...base, entities: [{ roles: ["technical"], remarks }] }, "a.example")?.holder).toBeNull();
  });
});
