/** An ordinary message: its headers as a mailbox stores them, and the programs that wrote them. */
export interface OrdinaryMail {
  readonly sender: string;
  readonly receiver: string;
  readonly headers: string;
}

interface Sender {
  readonly name: string;
  readonly helo: string;
  readonly ip: string;
  readonly bounce: string;
  readonly from: string;
  /** Domain and selector of each signature. */
  readonly dkim: readonly (readonly [domain: string, selector: string, lifeSeconds?: number])[];
  /** Older hops, newest first. `at` returns a date that many seconds after the message was written. */
  readonly hops: (at: (seconds: number) => string) => readonly string[];
  readonly more?: readonly string[];
}

interface Receiver {
  readonly name: string;
  readonly wrap: (sender: Sender, at: (seconds: number) => string) => readonly string[];
}

const START = Date.parse("2024-03-05T08:30:00Z");
const B = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=";

/** Returns an RFC 5322 date with an offset in hours. */
function dateIn(seconds: number, hours = 0): string {
  const [weekday = "", day, month, year, time] = new Date(START + (seconds + hours * 3600) * 1000)
    .toUTCString()
    .split(" ");
  const sign = hours < 0 ? "-" : "+";
  return `${weekday} ${day} ${month} ${year} ${time} ${sign}${String(Math.abs(hours)).padStart(2, "0")}00`;
}

const SENDERS: readonly Sender[] = [
  {
    name: "person at Gmail",
    helo: "mail-lf1-f41.google.com",
    ip: "11.85.167.41",
    bounce: "anna@gmail.com",
    from: "Anna Berg <anna@gmail.com>",
    dkim: [["gmail.com", "20230601", 604_800]],
    hops: (at) => [`by mail-lf1-f41.google.com with SMTP id 2adb3069b0e04-5131 for <u@home.example>; ${at(1)} (PST)`],
    more: ["X-Google-Smtp-Source: AGHT+IH", "X-Received: by 2002:a19:2d4b:0:b0:512:d6bf with SMTP id t11-2002; (PST)"],
  },
  {
    name: "person at Microsoft 365",
    helo: "EUR05-AM6-obe.outbound.protection.outlook.com",
    ip: "11.107.22.91",
    bounce: "ben@contoso.example",
    from: '"Bakker, Ben" <ben@contoso.example>',
    dkim: [["contoso.example", "selector1"]],
    hops: (at) => [
      `from AM0PR01MB5555.eurprd01.prod.exchangelabs.com (2603:10a6:208:1::5) by DB7PR01MB4321.eurprd01.prod.exchangelabs.com (2603:10a6:10:2::6) with Microsoft SMTP Server (version=TLS1_2, cipher=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384) id 15.20.7339.35; ${at(2)}`,
      `from AM0PR01MB5555.eurprd01.prod.exchangelabs.com ([fe80::5a1:b2c3%4]) by AM0PR01MB5555.eurprd01.prod.exchangelabs.com ([fe80::5a1:b2c3%4]) with mapi id 15.20.7339.035; ${at(1)}`,
    ],
    more: [
      "Thread-Topic: Figures",
      "X-MS-Has-Attach:",
      "Authentication-Results: dkim=none (message not signed) header.d=none;dmarc=none action=none header.from=contoso.example;",
    ],
  },
  {
    name: "newsletter by SendGrid",
    helo: "o1.ptr9.shop.example",
    ip: "11.89.115.5",
    bounce: "bounces+123-abcd-u=home.example@em1234.shop.example",
    from: "Shop <news@shop.example>",
    dkim: [
      ["shop.example", "s1"],
      ["sendgrid.info", "smtpapi"],
    ],
    hops: (at) => [
      `by filter0123p1las1.sendgrid.net with SMTP id filter0123-1; ${at(2)}`,
      `from MTIzNDU2 (unknown [11.3.4.5]) by geopod-ismtpd-1-0 (SG) with HTTP id abc; ${at(1)} (UTC)`,
    ],
    more: [
      "List-Unsubscribe: <https://shop.example/u/1>",
      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
      "X-SG-EID: abc",
    ],
  },
  {
    name: "newsletter by Mailchimp",
    helo: "mail99.suw121.mcsv.net",
    ip: "11.2.187.99",
    bounce: "bounce-mc.us5_123.4567-u=home.example@mail99.suw121.mcsv.net",
    from: "=?utf-8?Q?B=C3=A4ckerei?= <hallo@baker.example>",
    dkim: [
      ["baker.example", "k2"],
      ["mailchimpapp.net", "k2"],
    ],
    hops: (at) => [
      `from localhost (localhost [127.0.0.1]) by mail99.suw121.mcsv.net (Mailchimp) with ESMTP id 4Tp; ${at(1)} (GMT)`,
    ],
    more: [
      "Reply-To: =?utf-8?Q?B=C3=A4ckerei?= <hallo@baker.example>",
      "List-Unsubscribe: <https://baker.us5.list-manage.example/u>, <mailto:unsub@mailin.mcsv.net>",
      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
      "Precedence: bulk",
    ],
  },
  {
    name: "receipt by Amazon SES",
    helo: "a8-29.smtp-out.amazonses.com",
    ip: "11.240.8.29",
    bounce: "0100018e-000000@amazonses.com",
    from: "Tickets <noreply@tickets.example>",
    dkim: [
      ["tickets.example", "kvp7"],
      ["amazonses.com", "ug7nbtf4gccmlpwj322ax3p6ow6yfsug"],
    ],
    hops: () => [],
    more: ["Feedback-ID: 1.us-east-1.x:AmazonSES"],
  },
  {
    name: "person at an own Postfix",
    helo: "mail.village.example",
    ip: "11.9.8.7",
    bounce: "clara@village.example",
    from: "Clara <clara@village.example>",
    dkim: [["village.example", "mail"]],
    hops: (at) => [
      `from [192.168.1.20] (p4fd0.dip0.isp.example [11.208.5.6]) (Authenticated sender: clara) by mail.village.example (Postfix) with ESMTPSA id 4Tq; ${at(1)} (CET)`,
    ],
    more: ["User-Agent: Mozilla Thunderbird", "Content-Language: de-DE"],
  },
  {
    name: "web form by PHP",
    helo: "web3.hoster.example",
    ip: "11.4.5.6",
    bounce: "www-data@web3.hoster.example",
    from: "WordPress <wordpress@club.example>",
    dkim: [],
    hops: (at) => [`by web3.hoster.example (Postfix, from userid 33) id 5F1; ${at(1)} (CET)`],
    more: ["X-PHP-Originating-Script: 33:PHPMailer.php", "X-Mailer: PHPMailer 6.9.1"],
  },
  {
    name: "mailing list by Mailman",
    helo: "lists.project.example",
    ip: "11.7.7.7",
    bounce: "dev-bounces+u=home.example@lists.project.example",
    from: "Dora via dev <dev@lists.project.example>",
    dkim: [
      ["lists.project.example", "list"],
      ["dora.example", "mail"],
    ],
    hops: (at) => [
      `from lists.project.example (localhost [IPv6:::1]) by lists.project.example (Postfix) with ESMTP id 4Ts; ${at(40)} (UTC)`,
      `from mail.dora.example (mail.dora.example [11.6.6.6]) by lists.project.example (Postfix) with ESMTPS id 4Tr for <dev@lists.project.example>; ${at(3)} (UTC)`,
    ],
    more: [
      "Sender: dev <dev-bounces@lists.project.example>",
      "Reply-To: Dora <dora@dora.example>",
      "List-Id: <dev.lists.project.example>",
      "List-Unsubscribe: <mailto:dev-request@lists.project.example>",
      "Precedence: list",
      "X-BeenThere: dev@lists.project.example",
    ],
  },
  {
    name: "bank by PowerMTA",
    helo: "mta7.bank.example",
    ip: "11.33.1.7",
    bounce: "b-77@bounce.bank.example",
    from: "Your Bank <service@bank.example>",
    dkim: [["bank.example", "pm1", 2_592_000]],
    hops: (at) => [
      `from app12.bank.example (10.4.4.12) by mta7.bank.example id h1 for <u@home.example>; ${at(1)} (envelope-from <b-77@bounce.bank.example>)`,
    ],
  },
];

const passes = ({ dkim }: Sender): string =>
  dkim.length === 0
    ? "dkim=none"
    : dkim.map(([d, s]) => `dkim=pass header.d=${d} header.s=${s} header.b=QUJDREVG`).join("; ");
const fromDomain = ({ from }: Sender): string => /@([^>]+)>/.exec(from)?.[1] ?? "";

const RECEIVERS: readonly Receiver[] = [
  {
    name: "Gmail",
    wrap: (sender, at) => {
      const results = `mx.google.com; ${passes(sender)}; spf=pass (google.com: domain of ${sender.bounce} designates ${sender.ip} as permitted sender) smtp.mailfrom="${sender.bounce}"; dmarc=pass (p=NONE sp=NONE dis=NONE) header.from=${fromDomain(sender)}`;
      return [
        "Delivered-To: u@home.example",
        `Received: by 2002:a05:7412:798d:b0:fc:a2b0 with SMTP id fb13csp1; ${at(6)} (PST)`,
        "X-Google-Smtp-Source: AGHT+IE",
        `X-Received: by 2002:a17:906:b0c4:b0:a44 with SMTP id bk4-2002; ${at(6)} (PST)`,
        `ARC-Seal: i=1; a=rsa-sha256; t=${START / 1000 + 6}; cv=none; d=google.com; s=arc-20160816; b=${B}`,
        `ARC-Message-Signature: i=1; a=rsa-sha256; c=relaxed/relaxed; d=google.com; s=arc-20160816; h=to:subject:from:date; bh=${B}; b=${B}`,
        `ARC-Authentication-Results: i=1; ${results}`,
        `Return-Path: <${sender.bounce}>`,
        `Received: from ${sender.helo} (${sender.helo}. [${sender.ip}]) by mx.google.com with ESMTPS id a1 for <u@home.example> (version=TLS1_3 cipher=TLS_AES_256_GCM_SHA384 bits=256/256); ${at(5)} (PST)`,
        `Received-SPF: pass (google.com: domain of ${sender.bounce} designates ${sender.ip} as permitted sender) client-ip=${sender.ip};`,
        `Authentication-Results: ${results}`,
      ];
    },
  },
  {
    name: "Exchange Online",
    wrap: (sender, at) => [
      `Received: from DB9PR01MB1.eurprd01.prod.exchangelabs.com (::1) by AM9PR01MB2.eurprd01.prod.exchangelabs.com with HTTPS; ${at(8)}`,
      `Received: from DU2PR04CA0.eurprd04.prod.outlook.com (2603:10a6:10:3b::5) by DB9PR01MB1.eurprd01.prod.exchangelabs.com (2603:10a6:10:2::6) with Microsoft SMTP Server (version=TLS1_2, cipher=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384) id 15.20.7339.35; ${at(7)}`,
      `Received: from DB5PEPF00014B9.eurprd02.prod.outlook.com (2603:10a6:10:3b:cafe::1d) by DU2PR04CA0.outlook.office365.com (2603:10a6:10:3b::5) with Microsoft SMTP Server (version=TLS1_3, cipher=TLS_AES_256_GCM_SHA384) id 15.20.7362.24 via Frontend Transport; ${at(6)}`,
      `Authentication-Results: spf=pass (sender IP is ${sender.ip}) smtp.mailfrom=${sender.bounce.split("@")[1] ?? ""}; dkim=${sender.dkim.length > 0 ? "pass (signature was verified)" : "none (message not signed)"} header.d=${sender.dkim[0]?.[0] ?? "none"};dmarc=${sender.dkim.length > 0 ? "pass" : "bestguesspass"} action=none header.from=${fromDomain(sender)};compauth=pass reason=100`,
      `Received-SPF: Pass (protection.outlook.com: domain of ${sender.bounce.split("@")[1] ?? ""} designates ${sender.ip} as permitted sender) receiver=protection.outlook.com; client-ip=${sender.ip}; helo=${sender.helo}; pr=C`,
      `Received: from ${sender.helo} (${sender.ip}) by DB5PEPF00014B9.mail.protection.outlook.com (10.167.8.75) with Microsoft SMTP Server (version=TLS1_3, cipher=TLS_AES_256_GCM_SHA384) id 15.20.7362.11 via Frontend Transport; ${at(5)}`,
      "X-MS-Exchange-Organization-SCL: 1",
      `Return-Path: ${sender.bounce}`,
    ],
  },
  {
    name: "Yahoo",
    wrap: (sender, at) => [
      `X-Apparently-To: u@home.example; ${at(6)}`,
      `Return-Path: <${sender.bounce}>`,
      `Authentication-Results: atlas-production.v2-mail-prod1-gq1.omega.yahoo.com; ${passes(sender)}; spf=pass smtp.mailfrom=${sender.bounce.split("@")[1] ?? ""}; dmarc=success(p=NONE) header.from=${fromDomain(sender)};`,
      `Received: from 127.0.0.1 (EHLO ${sender.helo}) (${sender.ip}) by 10.217.151.75 with SMTPs (version=TLS1_3 cipher=TLS_AES_128_GCM_SHA256); ${at(5)}`,
    ],
  },
  {
    name: "Postfix with Rspamd and Dovecot",
    wrap: (sender, at) => [
      `Return-Path: <${sender.bounce}>`,
      "Delivered-To: u@home.example",
      `Received: from mx.home.example ([10.0.0.3]) by imap.home.example with LMTP id aBcD (envelope-from <${sender.bounce}>) for <u@home.example>; ${at(6)}`,
      `Received: from ${sender.helo} (${sender.helo} [${sender.ip}]) (using TLSv1.3 with cipher TLS_AES_256_GCM_SHA384 (256/256 bits) key-exchange X25519 server-signature RSA-PSS (2048 bits) server-digest SHA256) (No client certificate requested) by mx.home.example (Postfix) with ESMTPS id 4Tz for <u@home.example>; ${at(5)} (CET)`,
      `Authentication-Results: mx.home.example; ${passes(sender)}; spf=pass (mx.home.example: domain of "${sender.bounce}" designates ${sender.ip} as permitted sender) smtp.mailfrom="${sender.bounce}"; dmarc=pass (policy=none) header.from=${fromDomain(sender)}`,
      "X-Spamd-Result: default: False [-2.10 / 15.00]; R_SPF_ALLOW(-0.20)[+mx]",
      "X-Rspamd-Server: mx",
    ],
  },
  {
    name: "Exim with cPanel",
    wrap: (sender, at) => [
      `Return-Path: <${sender.bounce}>`,
      "Delivered-To: u@home.example",
      `Received: from host.cp.example by host.cp.example with LMTP id kJ (envelope-from <${sender.bounce}>) for <u@home.example>; ${at(7)}`,
      "Envelope-to: u@home.example",
      `Delivery-date: ${at(6)}`,
      `Received: from [${sender.ip}] (port=43210 helo=${sender.helo}) by host.cp.example with esmtps (TLS1.3) tls TLS_AES_256_GCM_SHA384 (Exim 4.96.2) (envelope-from <${sender.bounce}>) id 1rhQ for u@home.example; ${at(5)}`,
      "X-Spam-Status: No, score=-0.1",
      "X-Spam-Flag: NO",
    ],
  },
  {
    name: "qmail",
    wrap: (sender, at) => [
      `Return-Path: <${sender.bounce}>`,
      "Delivered-To: u@home.example",
      `Received: (qmail 12345 invoked by uid 89); ${at(7)}`,
      `Received: from unknown (HELO ${sender.helo}) (${sender.ip}) by 0 with SMTP; ${at(5)}`,
      `Received-SPF: pass (0: SPF record at ${sender.bounce.split("@")[1] ?? ""} designates ${sender.ip} as permitted sender)`,
    ],
  },
  {
    name: "sendmail and fetchmail with SpamAssassin",
    wrap: (sender, at) => [
      `Return-Path: <${sender.bounce}>`,
      "Delivered-To: u@localhost.home.example",
      `Received: from localhost (home [127.0.0.1]) by home.example (Postfix) with ESMTP id 3A; ${at(320)}`,
      `Received: from home [127.0.0.1] by localhost with IMAP (fetchmail-5.9.0) for u@localhost (single-drop); ${at(318)}`,
      `Received: from ${sender.helo} (${sender.helo} [${sender.ip}] (may be forged)) by dog.home.example (8.11.6/8.11.6) with ESMTP id g8; ${at(5)}`,
      "X-Spam-Status: No, hits=-2.1 required=7.0 tests=KNOWN_MAILING_LIST version=2.50",
      "X-Spam-Level:",
    ],
  },
  {
    name: "Fastmail",
    wrap: (sender, at) => [
      `Return-Path: <${sender.bounce}>`,
      `Received: from compute5.internal (compute5.nyi.internal [10.202.2.45]) by sloti22.nyi.internal (Cyrus 3.11.0) with LMTPA; ${at(7)}`,
      "X-Spam-score: 0.0",
      `Received: from mx5 ([10.202.2.204]) by compute5.internal (LMTPProxy); ${at(6)}`,
      `Authentication-Results: mx5.messagingengine.com; ${passes(sender)}; dmarc=pass policy.published-domain-policy=none header.from=${fromDomain(sender)}; spf=pass smtp.mailfrom="${sender.bounce}" smtp.helo=${sender.helo}`,
      `Authentication-Results: mx5.messagingengine.com; arc=none (no signatures found)`,
      `Received: from ${sender.helo} (${sender.helo} [${sender.ip}]) by mx5.messagingengine.com (Postfix) with ESMTPS id 9D; ${at(5)} (EST)`,
    ],
  },
  {
    name: "iCloud",
    wrap: (sender, at) => [
      `Received: from p47-mailgateway-smtp-77.ic.apple.example (localhost [127.0.0.1]) by ms-10021.mail.icloud.com with LMTP; ${at(7)}`,
      `Authentication-Results: bimi.icloud.com; bimi=skipped reason="insufficient dmarc"`,
      `Authentication-Results: dmarc.icloud.com; dmarc=pass header.from=${fromDomain(sender)}`,
      `Authentication-Results: dkim-verifier.icloud.com; ${passes(sender)}`,
      `Authentication-Results: spf.icloud.com; spf=pass (spf.icloud.com: domain of ${sender.bounce} designates ${sender.ip} as permitted sender) smtp.mailfrom=${sender.bounce}`,
      `Received: from ${sender.helo} (${sender.helo} [${sender.ip}]) by p00-icloudmta-smtpin-us-east-1a-20-percent-1.p00-icloudmta-smtpin-vip.icloud-mail-production.svc.kube.me.com (Postfix) with ESMTPS id 1B; ${at(5)}`,
      `Return-Path: <${sender.bounce}>`,
    ],
  },
  {
    name: "Proofpoint before Exchange",
    wrap: (sender, at) => [
      `Return-Path: ${sender.bounce}`,
      `Received: from EX2.office.home.example (10.1.1.12) by EX1.office.home.example (10.1.1.11) with Microsoft SMTP Server (version=TLS1_2, cipher=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384) id 15.2.1544.4 via Mailbox Transport; ${at(9)}`,
      `Received: from mx0a-0012.pphosted.com (11.136.1.1) by EX2.office.home.example (10.1.1.12) with Microsoft SMTP Server id 15.2.1544.4 via Frontend Transport; ${at(8)}`,
      `Received: from pps.filterd (m0099.ppops.net [127.0.0.1]) by mx0a-0012.pphosted.com (8.17.1.24/8.17.1.24) with ESMTP id 42; ${at(7)}`,
      `Authentication-Results: ppops.net; spf=pass smtp.mailfrom=${sender.bounce}; ${passes(sender)}; dmarc=pass header.from=${fromDomain(sender)}`,
      `Received: from ${sender.helo} (${sender.helo} [${sender.ip}]) by mx0a-0012.pphosted.com (PPS) with ESMTPS id 3k; ${at(5)}`,
    ],
  },
];

/**
 * Returns ordinary messages: each sender's as each receiver stores it. Layouts are those of the programs; names are
 * invented.
 */
export function ordinaryMails(): OrdinaryMail[] {
  return RECEIVERS.flatMap((receiver) =>
    SENDERS.map((sender) => ({ sender: sender.name, receiver: receiver.name, headers: messageOf(sender, receiver) })),
  );
}

function messageOf(sender: Sender, receiver: Receiver): string {
  const at = (seconds: number): string => dateIn(seconds, receiver.name === "Gmail" ? -8 : 0);
  // A list takes some time; the receiver's hops come after it.
  const [newest = 0] = sender.name.startsWith("mailing list") ? [40] : [];
  return [
    ...receiver.wrap(sender, (seconds) => at(seconds + newest)),
    ...sender.dkim.map(([domain, selector, life]) => {
      const time = START / 1000 + 1;
      const times = life === undefined ? "" : ` t=${time}; x=${time + life};`;
      return `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=${selector};${times} h=from:to:subject:date:message-id:mime-version:content-type; bh=${B}; b=${B}`;
    }),
    ...sender.hops((seconds) => dateIn(seconds)).map((hop) => `Received: ${hop}`),
    `Date: ${dateIn(0, 1)}`,
    `From: ${sender.from}`,
    "To: u@home.example",
    `Message-ID: <20240305083000.1@${sender.helo}>`,
    "Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= of the week",
    "MIME-Version: 1.0",
    'Content-Type: text/html; charset="utf-8"',
    ...(sender.more ?? []),
    "",
    "",
  ].join("\r\n");
}
