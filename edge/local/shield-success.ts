/** What a shield operation answers when it went well. */
export function shieldSuccess<T>(data: T): { readonly error: object; readonly data: T } {
  return { error: { success: true, message: null, errorKey: null }, data };
}
