/**
 * Returns path, parameters and query of a URL as Google's matcher reads them: everything from the first "/", "?" or ";"
 * after the authority up to the fragment, always with a leading "/". Nothing is decoded or normalised: the caller
 * passes an escaped URL. Returns "/" for empty and invalid URLs. One character per octet, as in patterns.
 */
export function robotsPath(url: string): string {
  const octets = Buffer.from(url, "utf8").toString("latin1");
  const searchStart = octets.startsWith("//") ? 2 : 0;
  const earlyPath = indexOfAny(octets, searchStart);
  const protocolEnd = octets.indexOf("://", searchStart);
  // If a path, parameter or query starts before "://", the "://" is part of it.
  const noProtocol = protocolEnd === -1 || (earlyPath !== -1 && earlyPath < protocolEnd);
  const pathStart = indexOfAny(octets, noProtocol ? searchStart : protocolEnd + 3);
  if (pathStart === -1) return "/";
  const hash = octets.indexOf("#", searchStart);
  if (hash !== -1 && hash < pathStart) return "/";
  const path = octets.slice(pathStart, hash === -1 ? undefined : hash);
  return path.startsWith("/") ? path : `/${path}`;
}

function indexOfAny(octets: string, from: number): number {
  const match = /[/?;]/g;
  match.lastIndex = from;
  return match.exec(octets)?.index ?? -1;
}
