/** English. */
import { NUMBER_WORDS } from "../../text/numbers";
import { type Lexicon, toWordSet } from "./lexicon";

const words = (list: string) => toWordSet("en", list);

export const ENGLISH: Lexicon = {
  language: "en",
  fillers: /^(?:u+m+|u+h+m*|e+r+m*|e+h+m*|h+m+|m{2,}|a+h+m*)$/,
  ambiguousFillers: /^(?:e+r+|e+h+|a+h+|mm|hm)$/,
  answers: /^(?:u+h+|h+m+|m{2,}|a+h+m*)$/,
  fillerTexts: ["Um.", "Uh,", "Hmm."],
  shortWords: ["So.", "No.", "Yes.", "And.", "But.", "The.", "I.", "It.", "A.", "Then.", "Come.", "That."],
  fillerHomophones: words("dumb dump thumb numb sum some come gum hum plum boom them bert burt burke her err un ham"),
  vowelWords: words("a ah an are eh he i oh or the"),
  articles: words("a an the"),
  possessives: words("my your his her its our their"),
  pronouns: words("i we he she it they you im this that these those"),
  conjunctions: words("and but or nor if than because"),
  prepositions: words("of to in on at for from with by as"),
  auxiliaries: words(
    "am is are was were be been do does did has have had can could will would shall should may might must youre theyre ill youll",
  ),
  adverbs: words("not so then there here let lets"),
  questionWords: words("how what where when why who which while"),
  doubledWords: words("that is so do had here by am may might shall"),
  letterWords: words("a i"),
  numberWords: NUMBER_WORDS,
  digitHomophones: words("to too for won ate oh"),
  completePhrases:
    /^(?:thank you|thanks|yes|no|yeah|okay|ok|right|all right|of course|come on|i know|i see|i agree|thats (?:it|right|true)|very good|well done|hello|welcome|good (?:morning|evening|afternoon))$/,
  remarkCues:
    /\b(?:sorry|again|wait|oops|whoops|hold on|one (?:more|second|sec|moment)|let me|start over|start again|take (?:two|three|four|five)|from the top|redo|restart|scratch that|cut that|messed up|my bad|what was|where was|okay|ok|excuse me|pardon|damn|shit|fuck|ugh|argh|try that|do that|still recording|not good|i mean|that was)\b/,
  // With a vowel before the ending, unlike "king" and "thing".
  stutteredVerbs: /^[b-df-hj-np-tv-xz]*[aeiouy][a-z]*ing$/,
  notVerbs: words("something anything nothing everything morning evening"),
};
