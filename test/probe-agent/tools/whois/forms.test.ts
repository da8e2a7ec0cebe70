import { describe, expect, it } from "vitest";
import { parseWhois } from "#probe-agent/tools/whois/parse.ts";
import { readWhoisDate } from "#probe-agent/analysis/registry/whois/dates.ts";

// Forms that registries without RDAP still send. The samples are written for this test, with reserved names.

const SERVERS = ["ns1.example.net", "ns2.example.net"];
const day = (text: string) => `${text}T00:00:00.000Z`;

const FORMS: readonly (readonly [form: string, server: string, text: string, expected: object])[] = [
  [
    "labels without a colon, in columns",
    "whois.registry.example.sk",
    `Domain-name            example.sk
Admin-id               EXAM-0001
Admin-name             Example s.r.o.
Admin-address          Example Street 1, 811 01 Town
Tech-id                EXAM-0002
dns_name               ns1.example.net
dns_IPv4               192.0.2.1
dns_name               ns2.example.net
Last-update            2013-05-07
Valid-date             2014-06-08
Domain-status          DOM_OK
`,
    { domain: "example.sk", updated: day("2013-05-07"), expires: day("2014-06-08"), status: ["DOM_OK"] },
  ],
  [
    "letters before labels in brackets",
    "whois.registry.example.my",
    `Welcome to the Registry Whois
a [Domain Name]                  example.my
b [Registration No.]             D1A000001
c [Record Created]               01-JAN-2001
d [Record Expired]               02-FEB-2031
e [Record Last Modified]         03-MAR-2024
j [Primary Name Server]          EXMP1 192.0.2.1 ns1.example.net
k [Secondary Name Server]        EXMP2 192.0.2.2 ns2.example.net
`,
    { domain: "example.my", created: day("2001-01-01"), expires: day("2031-02-02"), updated: day("2024-03-03") },
  ],
  [
    "YAML with tags on the lines before",
    "whois.registry.example",
    `%YAML 1.1
---
!example.org,2008/domain
domain: 'example.test'
registrar:
  !!str
  Example Registrar
created: !!timestamp 2001-01-01
expires: "2031-02-02"
nameservers:
  !!seq
  - ns1.example.net
  - ns2.example.net
`,
    {
      domain: "example.test",
      registrar: { name: "Example Registrar" },
      created: day("2001-01-01"),
      expires: day("2031-02-02"),
    },
  ],
  [
    "class:key:value of RWhois",
    "rwhois.registry.example.ma",
    `%rwhois V-1.5:0078b6:00 whois.example (by Example 1.5)
domain:Class-Name:domain
domain:Domain-Name:example.ma
domain:Registrar:Example Registrar
domain:Created:20010101
domain:Updated;I:20240303101112
domain:Name-Server:ns1.example.net
domain:Name-Server:ns2.example.net
contact:Name:Example Person
contact:Created:19990101
%ok
`,
    {
      domain: "example.ma",
      registrar: { name: "Example Registrar" },
      created: day("2001-01-01"),
      updated: "2024-03-03T10:11:12.000Z",
    },
  ],
  [
    "Date registered and Record last updated",
    "whois.registry.example.nl",
    `Domain name: example.nl
Status:      active

Registrar:
   Example Registrar B.V.

Date registered:     2001-01-01
Record last updated: 2024-03-03

Domain nameservers:
   ns1.example.net
   ns2.example.net
`,
    { created: day("2001-01-01"), updated: day("2024-03-03"), registrar: { name: "Example Registrar B.V." } },
  ],
  [
    "Domain Currently Expires",
    "whois.registry.example.ws",
    `Domain Name: EXAMPLE.WS
Registrar Name: Example Registrar
Domain Created: 2001-01-01
Domain Last Updated: 2024-03-03
Domain Currently Expires: 2031-02-02
Current Nameservers:
`,
    { created: day("2001-01-01"), updated: day("2024-03-03"), expires: day("2031-02-02") },
  ],
  [
    "date_approved and ns1_hostname",
    "whois.registry.example.ca",
    `domain: example.co.ca
date_approved: 2001/01/01
ns1_hostname: ns1.example.net
ns1_netaddress: 192.0.2.1
ns2_hostname: ns2.example.net
ns2_netaddress: 192.0.2.2
`,
    { created: day("2001-01-01"), nameservers: SERVERS },
  ],
  [
    "the month first, where a date of the answer can only be so",
    "whois.registry.example.tk",
    `Domain name:
   EXAMPLE.TK

Domain Nameservers:
   NS1.EXAMPLE.NET
   NS2.EXAMPLE.NET

Domain registered: 02/03/2001
Record will expire on: 10/26/2031
`,
    { domain: "example.tk", created: day("2001-02-03"), expires: day("2031-10-26"), nameservers: SERVERS },
  ],
  [
    "the day first, where no date shows the month first",
    "whois.registry.example.tk",
    "Domain name: EXAMPLE.TK\nDomain registered: 02/03/2001\nRecord will expire on: 04/05/2031\n",
    { created: day("2001-03-02"), expires: day("2031-05-04") },
  ],
  [
    "labels filled with dots",
    "whois.registry.example.ai",
    `Complete Domain Name........ example.ai
Domain Created.............. 2001-01-01 10:11:12
Expiry Date . . . . . . . .  2031-02-02
Name Server................. ns1.example.net
Name Server................. ns2.example.net
`,
    { domain: "example.ai", created: "2001-01-01T10:11:12.000Z", expires: day("2031-02-02"), nameservers: SERVERS },
  ],
  [
    "numbered labels",
    "whois.registry.example.za",
    `0a. lastupdate             : 2024-03-03
0b. emailsource            : hostmaster@example.net
1a. domain                 : example.gov.za
2a. registrant             : Example Department
6a. primnsfqdn             : ns1.example.net
6b. primnsip               :
6e. secns1fqdn             : ns2.example.net
8a. registrationdate       : 2001-01-01
`,
    { domain: "example.gov.za", created: day("2001-01-01"), updated: day("2024-03-03"), nameservers: SERVERS },
  ],
  [
    "blocks with Spanish headings",
    "whois.registry.example.cl",
    `example.cl:

Titular:
    Empresa de Ejemplo

Contacto Administrativo:
    Nombre      : Persona de Ejemplo
    Fecha de creación: 1999-01-01

Servidores de nombre (Domain servers):
    ns1.example.net (192.0.2.1)
    ns2.example.net

Fecha de creación: 1 de enero de 2001
Última modificación al formulario:
    3 de marzo de 2024 (10:11:12 GMT)
Fecha de expiración: 2 de febrero de 2031
`,
    {
      created: day("2001-01-01"),
      expires: day("2031-02-02"),
      updated: "2024-03-03T10:11:12.000Z",
      nameservers: SERVERS,
    },
  ],
  [
    "lines of a name and a host alone",
    "whois.registry.example.to",
    "Registry whoisd V1.1\nexample ns1.example.net\nexample ns2.example.net\n",
    { nameservers: SERVERS },
  ],
  [
    "years after 2200",
    "whois.registry.example",
    "domain: example.test\nnserver: ns1.example.net\nnserver: ns2.example.net\ncreated: 2001-01-01\nexpires: 29991231\n",
    { created: day("2001-01-01"), expires: day("2999-12-31") },
  ],
  [
    "a registrar that is none",
    "whois.registry.example.uk",
    `    Domain name:
        example.uk

    Registrar:
        No registrar listed.  This domain is directly registered with the registry.

    Registered on: 01-Jan-2001

    Name servers:
        ns1.example.net
        ns2.example.net
`,
    { created: day("2001-01-01"), registrar: null },
  ],
];

describe("a form of WHOIS answers", () => {
  it.each(FORMS)("is read: %s", (_form, server, text, expected) => {
    const read = parseWhois(text, server);
    expect(read).toMatchObject({ registered: true, verdict: "registered", ...expected });
    if (/ns1/i.test(text)) expect(read.nameservers).toEqual(SERVERS);
  });
});

describe("what only looks like such a form", () => {
  it.each([
    ["prose with double blanks", "Welcome  to the registry.\nNot found:  example.test\n"],
    ["prose with dots", "Please wait... looking\nDomain not found.\n"],
    ["no results in mid-text", "Your request for example.co.pl has ended. No results were found for it.\n"],
    ["a name and a sentence", "example was not.found anywhere\nno match\n"],
  ])("is no registration: %s", (_what, text) => {
    expect(parseWhois(text, "whois.registry.example.pl")).toMatchObject({ registered: false, nameservers: [] });
  });

  it("is no statement that a name is free: If no results were found", () => {
    const text = "If no results were found, ask again.\nDomain name: example.test\n";
    expect(parseWhois(text, "whois.registry.example").verdict).not.toBe("absent");
  });

  it("is no end: the year 9999", () => {
    expect(readWhoisDate("9999-12-31", "whois.registry.example")).toBeNull();
    expect(readWhoisDate("99991231", "whois.registry.example")).toBeNull();
  });

  it("is no field: a label in a remark", () => {
    const text = "domain: example.test\nnserver: ns1.example.net\nremarks:registrar:Nobody\n";
    expect(parseWhois(text, "whois.registry.example")).toMatchObject({ registered: true, registrar: null });
  });

  it("keeps fields behind two blanks that have their own label", () => {
    const read = parseWhois("Registrar  Name: Example\nDomain name: example.test\n", "whois.registry.example");
    expect(read.domain).toBe("example.test");
  });
});
