/** Replaces "assets" in a message of the API with the word that pages use: "Delete recordings or renders." */
export const nameResources = (message: string): string =>
  message.replace(
    /(?<![\w@.-])(a)sset(s?)(?![\w@-]|\.\w)/gi,
    (_, first: string, plural: string) => `${first === "A" ? "R" : "r"}ecording${plural}`,
  );
