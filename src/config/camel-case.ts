/**
 * Converts names of the configuration file and of the API to the form that the code uses: `client_id` becomes
 * `clientId`.
 */

export type CamelCase<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<CamelCase<B>>}` : S;

export const toCamelCase = (key: string): string => key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
