/** Joins the messages of findings or remarks, one for each line. */
export function messagesOf(list: readonly { readonly message: string }[]): string {
  return list.map(({ message }) => message).join("\n");
}

/** Returns the ids of findings or remarks, in order. */
export function idsOf(list: readonly { readonly id: string }[]): string[] {
  return list.map(({ id }) => id);
}
