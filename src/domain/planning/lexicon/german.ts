/** German. "in", "so" and "was" are not their English namesakes. */
import { createEmptyLexicon, type Lexicon, toWordSet } from "./lexicon";

const words = (list: string) => toWordSet("de", list);

/** Normalization removes the dots of umlauts: "äh" is "ah". */
export const GERMAN: Lexicon = {
  ...createEmptyLexicon("de"),
  fillers: /^(?:a+h+m*|e+h+m+|o+h+m+|h+m+|m{2,})$/,
  ambiguousFillers: /^(?:a+h+|o+h+m+|mm|hm)$/,
  answers: /^(?:a+h+|h+m+|m{2,})$/,
  articles: words("der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner"),
  possessives: words(
    "mein meine meinen meinem meiner dein deine deinen deinem deiner sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren unserem unserer euer eure euren eurem eurer",
  ),
  pronouns: words(
    "ich du er sie es wir ihr man mich dich sich uns euch mir dir ihm ihn ihnen dieser diese dieses diesen diesem",
  ),
  conjunctions: words("und oder aber denn sondern weil dass wenn ob als bevor nachdem damit sowie"),
  prepositions: words(
    "in im an am auf aus bei beim mit nach von vom vor zu zum zur über unter durch für gegen ohne um zwischen hinter neben seit bis ins ans",
  ),
  auxiliaries: words(
    "bin bist ist sind seid war warst waren habe hast hat haben habt hatte hatten werde wirst wird werden werdet wurde wurden kann kannst können konnte muss musst müssen musste soll sollst sollen sollte will willst wollen wollte darf dürfen durfte mag möchte würde würden",
  ),
  adverbs: words("nicht so dann da hier auch noch"),
  questionWords: words("wie was wo wann warum wer wen wem welche welcher welches wieso woher wohin"),
  // "die die das sagten", "das das Kind", "sie sie", "so so", "ihr ihr": relative and object pronouns follow each
  // other.
  doubledWords: words("der die das den dem sie ihr so ist sind haben werden da"),
  letterWords: words(""),
  numberWords: words(
    "null eins ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend million millionen milliarde",
  ),
  digitHomophones: words("ein zwo"),
  completePhrases:
    /^(?:danke|danke schon|vielen dank|ja|nein|genau|okay|ok|klar|naturlich|ich weiss|ich weiß|stimmt|sehr gut|hallo|willkommen|guten (?:morgen|tag|abend))$/,
  remarkCues:
    /\b(?:entschuldigung|entschuldige|sorry|verzeihung|moment|sekunde|halt stopp|stopp|noch ?mal|noch ein ?mal|von vorne?|von anfang|neu(?:er)? (?:anfang|versuch|ansatz)|fang(?:e)? (?:ich )?(?:noch|neu)|mist|verdammt|scheisse|scheiße|quatsch|falsch|versprochen|ich meine|das war (?:nix|nichts)|okay|ok|oh nein|wo war ich)\b/,
};
