/** State of a name that nobody holds, as stated by the registry. */
export type NameState = "absent" | "reserved" | "premium" | "unassignable" | "not_assigned";

/** Answer format of one registry, as far as it differs from the common forms. */
export interface RegistryFormat {
  /** Suffixes of the registry's names, as A-labels. Its servers' names end in them too. */
  readonly suffixes: readonly string[];
  /** Servers of the registry with other names. */
  readonly servers?: readonly string[];
  /**
   * Common label (keys.ts) for each of the registry's own labels. Both are written as the function `normal` writes
   * labels.
   */
  readonly labels?: Readonly<Record<string, string>>;
  /** Blocks that are not about the domain. */
  readonly ignored?: readonly string[];
  /** Text that the registry writes if it has no value. */
  readonly empty?: string;
  /**
   * Words that state the state of a name without a holder, in lower case. They are values of the status, or of the
   * field `stateLabel`.
   */
  readonly states?: Readonly<Record<string, NameState>>;
  readonly stateLabel?: string;
  /** Separator between a status word and its explanation. */
  readonly statusNote?: string;
  /** Matches a status that contains the end of the registration. */
  readonly until?: RegExp;
  /** Word after a dated change that marks the registration itself, in lower case. */
  readonly createdNote?: string;
  /**
   * Sentences that have this meaning only at this registry. Sentences that are clear at every registry are in
   * verdict.ts.
   */
  readonly says?: readonly (readonly [NameState, RegExp])[];
  /** Whether the number in brackets after a registrar's name is IANA's. */
  readonly ianaBehindName?: true;
}

const IANA = "whois.iana.org";

/**
 * One entry for each registry, with the source of its facts. Answers of the servers are published as test material of
 * WHOIS clients (github.com/weppos/whois and whois-parser, flipbit/whois, richardpenman/whois, likexian/whois-parser),
 * all read on 2026-11-22. The year is that of the answers. A registry without an entry uses the common forms, among
 * them those of .bg, .es, .hm, .hu, .id, .it, .lk, .lt, .ly, .mx, .nc, .pt and .th.
 */
export const REGISTRIES: readonly RegistryFormat[] = [
  // NIC Uruguay and NIC Venezuela (CONATEL), whois.nic.org.uy and whois.nic.ve, 2012 and 2013. Both use the same
  // program.
  {
    suffixes: ["uy", "ve"],
    labels: {
      titular: "registrant",
      "registrado por": "registrar",
      "ultima actualizacion": "updated",
      "estatus del dominio": "status",
      "servidor(es) de nombres de dominio": "name servers",
    },
    empty: "not available",
  },
  // Jisc for academic and government names of the United Kingdom, whois.ja.net, 2016.
  {
    suffixes: ["ac.uk", "gov.uk"],
    servers: ["whois.ja.net"],
    labels: {
      "registered for": "registrant",
      "registered by": "registrar",
      "entry created": "created",
      "entry updated": "updated",
    },
  },
  // Kyrgyz registry, whois.domain.kg, 2014.
  { suffixes: ["kg"], labels: { "domain support": "registrar" } },
  // ISOC-IL, whois.isoc.org.il, 2016: "changed: user AT host 19960111 (Assigned)".
  { suffixes: ["il"], labels: { descr: "registrant", "registrar info": "registrar url" }, createdNote: "assigned" },
  // ISNIC, whois.isnic.is, 2014, and CARNET, whois.dns.hr, 2012. The first line of the description is the holder.
  { suffixes: ["is", "hr"], labels: { descr: "registrant" } },
  // IEDR, whois.domainregistry.ie, 2012.
  { suffixes: ["ie"], labels: { descr: "registrant", renewal: "expires" } },
  // Hostmaster.ua, whois.ua, 2013: UAEPP, and UANIC for older zones ("OK-UNTIL 20140903121852").
  {
    suffixes: ["ua"],
    labels: { "mnt by": "registrar handle" },
    until: /^OK-UNTIL (\d{8}(?:\d{6})?)$/i,
  },
  // UZINFOCOM, whois.cctld.uz, 2012.
  { suffixes: ["uz"], empty: "not.defined" },
  // KazNIC, whois.nic.kz, 2013: "Domain status : ok - Normal state."
  { suffixes: ["kz"], labels: { "organization using domain name": "registrant" }, statusNote: " -" },
  // NIC.LV, whois.nic.lv, 2014. The block [Whois] says when the answer was made.
  { suffixes: ["lv"], ignored: ["whois"] },
  // CERIST, whois.nic.dz, 2012 ("Registrar#. . . . cerist") and 2010 ("REGISTRAR:....cerist").
  {
    suffixes: ["dz"],
    labels: { description: "registrant", organisme: "registrant", "date de creation": "created", etat: "status" },
  },
  // ATI, whois.ati.tn, 2014 ("Acivated", in its spelling).
  { suffixes: ["tn"], labels: { acivated: "created", "owner name": "registrant" } },
  // RESTENA, whois.dns.lu, 2014.
  {
    suffixes: ["lu"],
    labels: { domaintype: "status", "org name": "registrant organization", "org country": "registrant country" },
  },
  // NIC .PE, kero.yachay.pe, 2014.
  { suffixes: ["pe"], labels: { query: "domain name" } },
  // CIRA, whois.cira.ca, 2011: a name that conflicts with another name.
  { suffixes: ["ca"], states: { unavailable: "unassignable" } },
  // DNS Belgium and EURid, whois.dns.be and whois.eu, 2016.
  { suffixes: ["be", "eu"], states: { "not allowed": "unassignable" } },
  // Traficom, whois.fi, 2019.
  { suffixes: ["fi"], says: [["reserved", /^domain not available\W*$/i]] },
  // JPRS, whois.jprs.jp, 2024: "[State] Connected (2025/03/31)" of a .co.jp.
  { suffixes: ["jp"], until: /^Connected \((\d{4}\/\d\d\/\d\d)\)$/ },
  // IANA, whois.iana.org, 2012: a country code without a registry.
  {
    suffixes: [],
    servers: [IANA],
    stateLabel: "organisation",
    states: { "not assigned": "not_assigned" },
  },
  // SITA and DotAsia, whois.aero and whois.nic.asia, 2013 and 2014: "Example Ltd R66-ASIA (292)".
  { suffixes: ["aero", "asia"], ianaBehindName: true },
];

/**
 * Finds the format of the registry that gave an answer: by the server's name, otherwise (a mirror, an address) by the
 * name that the answer is about. Top-level names are IANA's. Returns null for the common forms.
 */
export function registryFormat(server: string, domain: string | null): RegistryFormat | null {
  const host = server.toLowerCase().replace(/\.$/, "");
  const byServer = findByServer(host) ?? findBySuffix(host);
  if (byServer !== null || domain === null) return byServer;
  return domain.includes(".") ? findBySuffix(domain) : findByServer(IANA);
}

function findByServer(host: string): RegistryFormat | null {
  return REGISTRIES.find(({ servers }) => servers?.includes(host) === true) ?? null;
}

/** Finds the registry with the longest suffix that the name equals or ends in. */
function findBySuffix(name: string): RegistryFormat | null {
  const labels = name.split(".");
  for (const [index] of labels.entries()) {
    const suffix = labels.slice(index).join(".");
    const found = REGISTRIES.find(({ suffixes }) => suffixes.includes(suffix));
    if (found !== undefined) return found;
  }
  return null;
}
