/** The messages of findings or remarks, one a line. */
export function messagesOf(list: readonly { readonly message: string }[]): string {
  return list.map(({ message }) => message).join("\n");
}

/** Their kinds, in order. */
export function idsOf(list: readonly { readonly id: string }[]): string[] {
  return list.map(({ id }) => id);
}
