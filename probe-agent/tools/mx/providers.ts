/** Suffixes of mail hosts by operator, from the MX records that the services document for customers. */
const PROVIDERS: readonly (readonly [provider: string, suffixes: string])[] = [
  ["Google Workspace", "google.com googlemail.com smtp.goog"],
  ["Microsoft 365", "mail.protection.outlook.com mx.microsoft"],
  ["Outlook.com", "olc.protection.outlook.com hotmail.com"],
  ["Proofpoint", "pphosted.com ppe-hosted.com"],
  ["Mimecast", "mimecast.com mimecast-offshore.com"],
  ["Barracuda", "barracudanetworks.com ess.barracuda.com"],
  ["Cisco Secure Email", "iphmx.com"],
  ["Broadcom Email Security", "messagelabs.com"],
  ["Trend Micro", "trendmicro.com trendmicro.eu"],
  ["Sophos", "sophos.com"],
  ["Hornetsecurity", "hornetsecurity.com antispameurope.com"],
  ["Trellix", "fireeyecloud.com"],
  ["SpamExperts", "antispamcloud.com spamexperts.com spamexperts.eu"],
  ["Zoho Mail", "zoho.com zoho.eu zoho.in zohomail.com"],
  ["Fastmail", "messagingengine.com"],
  ["Proton Mail", "protonmail.ch"],
  ["Yahoo", "yahoodns.net"],
  ["iCloud Mail", "icloud.com mail.icloud.com"],
  ["Amazon SES", "amazonaws.com awsapps.com"],
  ["Cloudflare Email Routing", "mx.cloudflare.net"],
  ["Mailgun", "mailgun.org"],
  ["SendGrid", "sendgrid.net"],
  ["Postmark", "postmarkapp.com"],
  ["Rackspace", "emailsrvr.com"],
  ["GoDaddy", "secureserver.net"],
  ["Namecheap Private Email", "privateemail.com"],
  ["Namecheap forwarding", "registrar-servers.com"],
  ["ImprovMX", "improvmx.com"],
  ["ForwardEmail", "forwardemail.net"],
  ["Migadu", "migadu.com"],
  ["Mailbox.org", "mailbox.org"],
  ["Tuta", "tutanota.de"],
  ["Posteo", "posteo.de"],
  ["IONOS", "ionos.com ionos.de ionos.co.uk kundenserver.de 1and1.com"],
  ["OVHcloud", "ovh.net"],
  ["Gandi", "gandi.net"],
  ["Infomaniak", "infomaniak.ch"],
  ["Hostinger", "hostinger.com titan.email"],
  ["STRATO", "rzone.de"],
  ["Yandex", "yandex.net yandex.ru"],
  ["VK Mail", "mail.ru"],
  ["Tencent", "qq.com"],
  ["NetEase", "netease.com"],
  ["Alibaba Mail", "mxhichina.com"],
];

const BY_SUFFIX = new Map(
  PROVIDERS.flatMap(([provider, suffixes]) => suffixes.split(" ").map((suffix) => [suffix, provider] as const)),
);

/** Returns the operator of the first known mail host, in the order given; null if no host is known. */
export function mailProvider(hosts: readonly string[]): string | null {
  for (const host of hosts) {
    const labels = host.toLowerCase().split(".");
    for (let cut = 0; cut < labels.length - 1; cut += 1) {
      const provider = BY_SUFFIX.get(labels.slice(cut).join("."));
      if (provider !== undefined) return provider;
    }
  }
  return null;
}
