/** Splits a comma-separated list of normalized keys as registries write them. Earlier keys are more certain. */
function keys(text: string): readonly string[] {
  return text.split(",").map((key) => key.trim());
}

/** Names of the fields of a registration. */
export const KEYS = {
  domain: keys(
    "domain name, domain, domainname, complete domain name, nom de domaine, domaine, ドメイン名, 도메인이름, dominio, nombre de dominio",
  ),
  created: keys(
    `creation date, created, created on, created date, creation time, registered, registered on, registered date,
     registration date, registration time, domain registration date, record created, record created on, domain created,
     domain create date, domain creation date, domain record activated, activated on, first registration date, commencement date,
     domain name commencement date, domain dateregistered, registration, assigned, date registered, domain registered,
     date approved, registrationdate, fecha de registro, fecha de creacion, fecha de creación, 登録年月日, 등록일`,
  ),
  updated: keys(
    `updated date, updated, updated on, last updated, last updated on, last updated date, last update, last modified,
     modified, changed, modified date, modification date, last modification date, domain last updated date,
     domain record last updated, record last updated on, update date, domain datelastmodified, last edited on,
     record last updated, record last modified, domain last updated, lastupdate, date updated,
     última modificación al formulario, ultima modificacion al formulario, última modificación, 最終更新, 최근 정보 변경일`,
  ),
  expires: keys(
    `registry expiry date, expiration date, expiry date, expires, expires on, expire, expire date,
     registrar registration expiration date, expiration, expiration time, expiry, exp date, paid till, renewal date,
     domain expires, domain expiration date, record expires on, expires at, expired, record expired, valid until, validity, domain datebilleduntil,
     domain currently expires, record will expire on, valid date, date expired, expirationdate,
     fecha de vencimiento, fecha de expiración, fecha de expiracion, 有効期限, 사용 종료일`,
  ),
  status: keys("domain status, status, registration status, estado, eppstatus, epp status, 状態"),
  registryId: keys("registry domain id, domain id, roid"),
  referral: keys("registrar whois server, whois server, refer, referralserver, referral server, whois"),
  registrarName: keys(
    `registrar name, sponsoring registrar, sponsoring registrar organization, sponsoring registrar name,
     registrar organization, authorized agency, agente registrador`,
  ),
  registrar: keys(
    `registrar, registrar company, registration service provider, current registrar, current registar,
     registered through, registrar handle, 등록대행자`,
  ),
  company: keys("organization, organisation, organization name, organisation name, org"),
  holder: keys("registrant, registrant name, owner, holder, holder of domain name, domain holder, titular"),
} as const;

/** Matches the label of name servers. */
export const SERVER_KEY =
  /^(?:(?:primary|secondary|domain) )?(?:(?:name ?servers?|nserver|dns(?: servers?)?|ns|host ?name|ネームサーバ)(?: (?:name|hostname|information))?|(?:primary|secondary|domain) server|servers)(?: in (?:the )?listed order)?(?: ?\d{1,2})?$|^ns name \d\d$|^ns ?\d{1,2} hostname$|^(?:prim|sec)ns ?\d{0,2}fqdn$|^servidor(?:es)? de nombres?$/;

const LABELS: ReadonlySet<string> = new Set(Object.values(KEYS).flat());

/**
 * Reports whether a normalized label is one of those that registries use. Forms that prose has too, such as words with
 * two blanks between them, are fields only with such a label.
 */
export function isKnownLabel(label: string): boolean {
  return LABELS.has(label) || SERVER_KEY.test(label);
}
