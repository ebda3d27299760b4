"""Facts in text: the statements that a text makes, and which of two statements is a newer version of the other.

How a link between an older and a newer statement is found, step by step, and which module does each step. The modules
are best read in this order.

1. A text is cut into sentences (`sentences`), and these into statements (`statements`): the words and stems of each
   (`words`), the verb that relates its subject to a value (`relations`), and phrases that say that something changed,
   is open or was decided (`cues`).
2. Each statement has keys under which the index stores it, and keys by which it finds older versions of itself
   (`statements`): from what it is about (`claims`), what holds of its subject (`states`), and what is to be done
   (`tasks`). Only pairs that share a key are compared.
3. Most of these pairs are rejected by a few numbers, and then by a first look at their words (`prefilter`).
4. The first rule that applies gives the link (`versions.judge` has their order): a person said so (`links`); the task
   is done (`completions`); both have one label (`labels`); both begin and end alike and differ in the value
   (`frames`); a verb changes what another said (`states`); the older value is gone (`retractions`); the same thing
   changed (`changes`); one of its attributes has another value (`attributes`). Patterns that some rules share are
   written as rows of words (`forms`).
5. A link that a rule found has to be likely, and without a rule there may be enough evidence for one (`evidence`).
6. What tells the two apart drops the link: another subject or case, an exception, a plan (`vetoes`).
7. On different pages, or below different headings, both have to be about one subject (`page_subjects`).
8. If the older sentence makes several statements, only the clause that is replaced is out of date (`clauses`).

`search/replacements.py` looks up the pairs, and `search/truth.py` decides what a search shows of them. `names` has no
part in this: it finds the people, projects and systems that many pages mention.
"""
