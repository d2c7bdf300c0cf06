/** French. Elided words are one word: "j'ai" is "jai". */
import { createEmptyLexicon, type Lexicon, toWordSet } from "./lexicon";

const words = (list: string) => toWordSet("fr", list);

export const FRENCH: Lexicon = {
  ...createEmptyLexicon("fr"),
  fillers: /^(?:e+u+h+|h+e+u+|h+u+m+|h+m+|m{2,}|e+h+m+)$/,
  ambiguousFillers: /^(?:hum|mm|hm)$/,
  answers: /^(?:h+u+m+|h+m+|m{2,})$/,
  articles: words("le la les un une des du au aux"),
  possessives: words("mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs"),
  pronouns: words("je tu il elle on nous vous ils elles me te se lui ce cette ces cet cela ça qui que"),
  conjunctions: words("et ou mais donc or ni car si quand comme lorsque puisque parce"),
  prepositions: words("à de en dans par pour sur sous avec sans chez vers entre depuis pendant avant après"),
  auxiliaries: words(
    "suis es est sommes êtes sont étais était étaient ai as a avons avez ont avait avaient vais vas va allons allez vont peux peut pouvons pouvez peuvent dois doit devons devez doivent veux veut faut c'est j'ai n'est d'un d'une",
  ),
  adverbs: words("ne pas y là ici très aussi"),
  questionWords: words("quoi où comment pourquoi quel quelle quels quelles combien"),
  // Reflexive verbs double their pronoun, and "très très" is emphatic.
  doubledWords: words("nous vous pas là très va"),
  letterWords: words("à y"),
  numberWords: words(
    "zéro un une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante cinquante soixante cent cents mille million millions milliard",
  ),
  completePhrases:
    /^(?:merci|merci beaucoup|oui|non|daccord|bien sur|voila|je sais|je vois|cest (?:ca|vrai)|tres bien|bonjour|bonsoir|bienvenue)$/,
  remarkCues:
    /\b(?:pardon|desolee?|excusez moi|excuse moi|encore une fois|je reprends|on reprend|je recommence|on recommence|du debut|depuis le debut|attends|attendez|une seconde|un instant|un moment|je veux dire|merde|zut|mince|oups|je me suis trompee?|ok|okay)\b/,
};
