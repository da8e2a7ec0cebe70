import { describe, expect, it } from "vitest";
import { readReceived, type Received } from "#probe-agent/tools/email-header/received-field.ts";

const DATE = "Tue, 2 Jan 2024 09:00:00 +0000";

/** Received fields by server, with the expected parts. */
const FORMS: readonly (readonly [name: string, value: string, expected: Partial<Received>])[] = [
  [
    "Postfix with TLS",
    `from out.example.com (out.example.com [192.0.2.41]) (using TLSv1.3 with cipher TLS_AES_256_GCM_SHA384 (256/256 bits) key-exchange X25519 server-signature RSA-PSS (2048 bits)) (No client certificate requested) by mx.example.org (Postfix) with ESMTPS id 4ABC for <u@example.org>; ${DATE} (CET)`,
    {
      from: "out.example.com",
      rdns: "out.example.com",
      ip: "192.0.2.41",
      by: "mx.example.org",
      with: "ESMTPS",
      id: "4ABC",
      for: "u@example.org",
      tls: { version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", bits: 256 },
    },
  ],
  [
    "Postfix without a name for the client, IPv6",
    `from client (unknown [IPv6:2001:db8::7]) (Authenticated sender: u@example.org) by mx.example.org (Postfix) with ESMTPSA id 1; ${DATE}`,
    {
      from: "client",
      rdns: null,
      ip: "2001:db8::7",
      authenticated: true,
      tls: { version: null, cipher: null, bits: null },
    },
  ],
  [
    "Postfix's pickup",
    `by mx.example.org (Postfix, from userid 33) id ABCDEF; ${DATE}`,
    { from: null, ip: null, by: "mx.example.org", id: "ABCDEF", with: null, tls: null },
  ],
  [
    "Gmail inside",
    `by 2002:a05:6a10:1234:b0:4f1:1:2 with SMTP id x1csp123; ${DATE}`,
    { from: null, by: "2002:a05:6a10:1234:b0:4f1:1:2", with: "SMTP", id: "x1csp123" },
  ],
  [
    "Gmail at the border",
    `from mail.example.com (mail.example.com. [192.0.2.5]) by mx.google.com with ESMTPS id a1 for <u@gmail.com> (version=TLS1_2 cipher=ECDHE-RSA-AES128-GCM-SHA256 bits=128/128); ${DATE} (PST)`,
    {
      rdns: "mail.example.com",
      ip: "192.0.2.5",
      for: "u@gmail.com",
      tls: { version: "TLSv1.2", cipher: "ECDHE-RSA-AES128-GCM-SHA256", bits: 128 },
    },
  ],
  [
    "Exchange Online",
    `from A.prod.outlook.com (2603:10a6:208:1::5) by B.prod.outlook.com (2603:10a6:10:2::6) with Microsoft SMTP Server (version=TLS1_2, cipher=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384) id 15.20.7135.28 via Frontend Transport; ${DATE}`,
    {
      from: "A.prod.outlook.com",
      rdns: null,
      ip: "2603:10a6:208:1::5",
      with: "Microsoft SMTP Server",
      id: "15.20.7135.28",
      via: "Frontend Transport",
      tls: { version: "TLSv1.2", cipher: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", bits: null },
    },
  ],
  [
    "an older Exchange with TLS",
    `from A.example (10.1.2.3) by B.example (10.1.2.4) with Microsoft SMTP Server (TLS) id 8.3.83.0; ${DATE}`,
    { ip: "10.1.2.3", tls: { version: null, cipher: null, bits: null } },
  ],
  [
    "Exim, an address literal as client",
    `from [192.0.2.7] (helo=client.example.com) by mail.example.net with esmtps (TLS1.3) tls TLS_AES_256_GCM_SHA384 (Exim 4.96) (envelope-from <a@example.com>) id 1rKabc-0001xy-2Z for u@example.net; ${DATE}`,
    {
      from: "client.example.com",
      rdns: null,
      ip: "192.0.2.7",
      with: "esmtps",
      id: "1rKabc-0001xy-2Z",
      for: "u@example.net",
      envelopeFrom: "a@example.com",
      tls: { version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", bits: null },
    },
  ],
  [
    "Exim, older, with a port",
    `from host.example.com ([192.0.2.9]:41234 helo=foo) by x.example.net with esmtps (TLSv1.2:ECDHE-RSA-AES256-GCM-SHA384:256) (Exim 4.84) id 1abc; ${DATE}`,
    {
      from: "foo",
      rdns: "host.example.com",
      ip: "192.0.2.9",
      tls: { version: "TLSv1.2", cipher: "ECDHE-RSA-AES256-GCM-SHA384", bits: 256 },
    },
  ],
  [
    "Exim, a client that says another address than it has",
    `from [10.0.0.5] ([192.0.2.16] helo=foo) by x.example.net with esmtp id 1; ${DATE}`,
    { from: "foo", ip: "192.0.2.16" },
  ],
  [
    "Sendmail",
    `from a.example (b.example.com [192.0.2.11] (may be forged)) (authenticated bits=0) by c.example (8.15.2/8.15.2) with ESMTPSA id 402 (version=TLSv1.3 cipher=TLS_AES_256_GCM_SHA384 bits=256 verify=NO) for <x@c.example>; ${DATE}`,
    {
      from: "a.example",
      rdns: "b.example.com",
      ip: "192.0.2.11",
      authenticated: true,
      id: "402",
      tls: { version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", bits: 256 },
    },
  ],
  [
    "qmail",
    `from unknown (HELO foo.example.com) (user@192.0.2.10) by 0 with SMTP; ${DATE}`,
    { from: "foo.example.com", rdns: null, ip: "192.0.2.10", by: "0", with: "SMTP" },
  ],
  [
    "qmail with a name",
    `from mail.example.com (192.0.2.10) by mx.example.net with SMTP; ${DATE}`,
    { from: "mail.example.com", ip: "192.0.2.10" },
  ],
  ["qmail's own steps", `(qmail 12345 invoked by uid 89); ${DATE}`, { from: null, by: null, with: null, ip: null }],
  [
    "a bare comment for the client",
    `from (192.0.2.12) by x.example with HTTP; ${DATE}`,
    { from: null, ip: "192.0.2.12", by: "x.example" },
  ],
  ["a bare bracket for the client", `from ([192.0.2.12]) by x.example; ${DATE}`, { from: null, ip: "192.0.2.12" }],
  ["only an address", `from 192.0.2.13 by x.example with NNFMP; ${DATE}`, { from: "192.0.2.13", ip: "192.0.2.13" }],
  [
    "what the client says against what the server saw",
    `from [10.0.0.5] (unknown [192.0.2.14]) by x.example; ${DATE}`,
    { from: "[10.0.0.5]", ip: "192.0.2.14" },
  ],
  [
    "capital keywords in another order",
    `FROM a.example BY b.example FOR <c@d.example> ID 7 WITH LMTPS; ${DATE}`,
    {
      from: "a.example",
      by: "b.example",
      for: "c@d.example",
      id: "7",
      with: "LMTPS",
      tls: { version: null, cipher: null, bits: null },
    },
  ],
  [
    "SMTPUTF8",
    `from a.example by b.example with UTF8SMTPSA id 1; ${DATE}`,
    { with: "UTF8SMTPSA", authenticated: true, tls: { version: null, cipher: null, bits: null } },
  ],
  ["a semicolon in a comment", `from a.example (x; y [192.0.2.15]) by b.example; ${DATE} (z; w)`, { ip: "192.0.2.15" }],
  [
    "a comment after the date",
    `from a.example by b.example; ${DATE} (PST) (envelope-from q@r.example)`,
    { envelopeFrom: "q@r.example" },
  ],
  ["no semicolon", `from a.example by b.example with SMTP id 5 ${DATE}`, { by: "b.example" }],
  ["an address of no family", `from a.example (999.1.1.1) by b.example; ${DATE}`, { ip: null }],
  [
    "a comment without end",
    `from a.example (b [192.0.2.1] by c.example; ${DATE}`,
    { from: "a.example", by: "c.example" },
  ],
];

describe("Received fields (RFC 5321 section 4.4) as servers write them", () => {
  it.each(FORMS)("%s", (_name, value, expected) => {
    const parsed = readReceived(value);
    expect(parsed).toMatchObject(expected);
    expect(parsed.date?.time).toBe(Date.parse("2024-01-02T09:00:00Z"));
  });

  it.each([
    ["from a by b", null],
    ["from a by b;", null],
    ["from a by b; soon", { time: null, faults: ["unreadable"] }],
    ["", null],
  ])("%j has no date", (value, date) => {
    expect(readReceived(value).date).toEqual(date);
  });
});
