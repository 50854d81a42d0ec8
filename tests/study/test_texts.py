"""Words of the participant's pages: complete and alike in every language, and never HTML."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.design.pages import LANGUAGES, OUTCOMES
from paragone.errors import BadInput, UnknownName
from paragone.study import texts
from paragone.study.pictures.cards import TUTORIALS, tutorial_cards

WEB = Path(texts.__file__).resolve().parents[1] / "web"
LONGEST_BUTTON = 26  # characters of a button or a caption; one line in a third of a 1024-pixel window at 20 px
LONGEST_SCALE = 28  # characters of a word beside the scale
LONGEST_PARAGRAPH = 420  # characters; about six lines of 75

others = pytest.mark.parametrize("language", [word for word in LANGUAGES if word != "en"])
every = pytest.mark.parametrize("language", LANGUAGES)


def _fields(text: str) -> set[str]:
    return set(re.findall(r"\{(\w*)\}", text))


@others
def test_every_language_has_the_same_keys_in_the_same_order(language: str) -> None:
    assert list(texts.load(language)) == list(texts.load("en"))


@others
def test_every_language_has_the_same_fields(language: str) -> None:
    english, other = texts.load("en"), texts.load(language)
    assert {key: _fields(other[key]) for key in other} == {key: _fields(english[key]) for key in english}


@others
def test_every_language_marks_as_many_words(language: str) -> None:
    english, other = texts.load("en"), texts.load(language)
    assert {key: other[key].count("*") for key in other} == {key: english[key].count("*") for key in english}


@others
def test_every_language_has_as_many_paragraphs(language: str) -> None:
    english, other = texts.load("en"), texts.load(language)
    assert {key: len(texts.paragraphs(other[key])) for key in other} == {
        key: len(texts.paragraphs(english[key])) for key in english
    }


@others
def test_no_sentence_was_left_in_english(language: str) -> None:
    english, other = texts.load("en"), texts.load(language)
    same = [key for key in other if other[key] == english[key] and re.search(r"[a-z]{4,} [a-z]{2,}", english[key])]
    assert same == []


@every
def test_braces_stand_only_around_fields(language: str) -> None:
    bare = {key: re.sub(r"\{[a-z_]+\}", "", text) for key, text in texts.load(language).items()}
    assert [key for key, text in bare.items() if "{" in text or "}" in text] == []


@every
def test_no_text_is_html(language: str) -> None:
    loaded = texts.load(language)
    assert [key for key, text in loaded.items() if re.search(r"[<>]|&\w+;|https?:", text)] == []


@every
def test_no_text_is_empty_or_holds_control_characters(language: str) -> None:
    loaded = texts.load(language)
    assert [key for key, text in loaded.items() if not texts.paragraphs(text)] == []
    controls = [key for key, text in loaded.items() if any(unicodedata.category(c) == "Cc" for c in text if c != "\n")]
    assert controls == []


@every
def test_buttons_and_captions_fit_on_one_line(language: str) -> None:
    loaded = texts.load(language)
    for table in ("client.button", "label", "client.third", "factor", "client.head"):
        long = {key: text for key, text in loaded.under(table).items() if len(text) > LONGEST_BUTTON}
        assert {key: text for key, text in long.items() if table != "client.head" or len(text) > 40} == {}
    for table in ("scale.acr", "scale.dcr"):
        assert max(map(len, loaded.under(table).values())) <= LONGEST_SCALE


@every
def test_paragraphs_are_short(language: str) -> None:
    loaded = texts.load(language)
    long = [key for key in loaded for part in texts.paragraphs(loaded[key]) if len(part) > LONGEST_PARAGRAPH]
    assert long == []


@every
def test_every_outcome_and_every_kind_of_scale_has_its_words(language: str) -> None:
    loaded = texts.load(language)
    assert set(loaded.under("done")) == set(OUTCOMES)
    assert list(loaded.under("scale.acr")) == list(loaded.under("scale.dcr")) == ["1", "2", "3", "4", "5"]


def test_no_end_sends_people_back_by_itself_for_the_page_knows_whether_there_is_an_address() -> None:
    for text in texts.load("en").under("done").values():
        assert not any(word in text for word in ("link", "platform", "panel", "close this page"))


@every
def test_every_tutorial_card_has_head_text_and_why(language: str) -> None:
    keys = texts.load(language).under("tutorial")
    cards = {key.partition(".")[0] for key in keys}
    assert cards == {
        "what-content", "what-style", "what-transfer", "balance", "try-content", "try-style", "not-appeal",
        "one-score", "blur", "artifact", "unnatural", "mismatch", "good",
    }  # fmt: skip
    assert set(keys) == {f"{card}.{part}" for card in cards for part in ("head", "text", "why")}


def test_the_style_transfer_tutorial_defines_its_words_and_asks_for_the_balance() -> None:
    english = texts.load("en")
    assert "what a picture shows" in english["tutorial.what-content.text"]
    assert "artistic character" in english["tutorial.what-style.text"]
    assert "content of the first picture, painted in the style of the second" in english["tutorial.what-transfer.text"]
    assert "balance" in english["tutorial.balance.text"]
    assert "do not ask for your taste" in english["tutorial.not-appeal.why"]


def test_one_score_names_all_five_aspects() -> None:
    said = texts.load("en")["tutorial.one-score.text"]
    for aspect in ("technical problems", "traces of the computer", "unnatural", "words", "pleasing"):
        assert aspect in said


def test_the_consent_says_what_is_stored_and_what_is_not() -> None:
    said = "\n".join(texts.load("en")[f"consent.data.{part}"] for part in ("text", "panel", "never"))
    for part in ("participant number", "your answers", "how long you took", "screen", "do not store", "IP address"):
        assert part in said


@every
def test_consent_fills_its_fields(language: str) -> None:
    loaded = texts.load(language)
    assert "365" in loaded.fill("consent.kept.panel", days=365)
    assert "desk@example.org" in loaded.fill("consent.withdrawal.text", contact="desk@example.org")
    assert "An Institute" in loaded.fill("consent.who.text", who="An Institute", contact="desk@example.org")


def test_numbers_are_written_as_the_language_does() -> None:
    assert "8.5 minutes" in texts.load("en").fill("consent.task.minutes", minutes=8.5)
    assert "8,5 Minuten" in texts.load("de").fill("consent.task.minutes", minutes=8.5)


def test_what_is_filled_in_is_taken_as_it_is() -> None:
    filled = texts.load("en").fill("consent.who.text", who="{contact} <b>", contact="x")
    assert filled == "{contact} <b>. Contact: x"


def test_a_forgotten_field_or_key_is_told() -> None:
    loaded = texts.load("en")
    with pytest.raises(BadInput, match=r"text 'consent.kept.panel' takes days; check days"):
        loaded.fill("consent.kept.panel")
    with pytest.raises(BadInput, match=r"text 'done.completed' takes no fields; check code"):
        loaded.fill("done.completed", code="C1")
    with pytest.raises(UnknownName, match=r"no text 'done.complete'; did you mean 'done.completed'\?"):
        loaded.fill("done.complete")
    with pytest.raises(UnknownName, match=r"no table of texts 'client.buttons'; did you mean 'client.button'\?"):
        loaded.under("client.buttons")
    with pytest.raises(UnknownName, match=r"no language 'fr'; there is de, en, zh"):
        texts.load("fr")
    with pytest.raises(KeyError):
        loaded["nothing"]


def test_the_browser_gets_its_own_words_and_no_others() -> None:
    client = texts.load("en").client
    assert client["button.next"] == "Next"
    assert "consent.head" not in client
    assert not any(key.startswith("client.") for key in client)
    assert sum(len(key) + len(text.encode()) for key, text in client.items()) < 8_000


def test_every_word_that_the_scripts_ask_for_is_there() -> None:
    client = texts.load("en").client
    scripts = "".join(path.read_text(encoding="utf-8") for path in WEB.glob("*.js"))
    asked = set(re.findall(r'\bt\(\s*"([^"]+)"', scripts)) | set(re.findall(r'\bstatus\("([^"]+)"', scripts))
    assert len(asked) > 20
    assert sorted(asked - set(client)) == []


@every
def test_without_script_the_page_says_so_in_every_language(language: str) -> None:
    said = texts.load(language)["page.noscript"]
    first = re.split(r"(?<=[.。])", said)[0]
    assert first in (WEB / "index.html").read_text(encoding="utf-8")


def test_question_parts_split_at_the_marked_word() -> None:
    assert texts.question_parts("Which result keeps the *content* better?") == (
        "Which result keeps the ",
        "content",
        " better?",
    )
    assert texts.question_parts("Which one?") == ("Which one?", "", "")
    assert texts.question_parts("*Which* one *is* it?") == ("", "Which", " one is it?")


@every
def test_every_question_of_ours_marks_one_word(language: str) -> None:
    loaded = texts.load(language)
    for form in ("pairs", "ratings", "compared"):
        for key, text in loaded.under(f"question.{form}").items():
            before, word, after = texts.question_parts(text)
            assert word, key
            assert before + word + after == texts.plain(text)


def test_the_question_follows_form_criterion_and_study() -> None:
    english = texts.load("en")
    assert english.question("pairs", "style") == ("Which result matches the ", "style", " better?")
    assert english.question("pairs", "overall", asked=["content", "style", "overall"])[1] == "balance"
    assert english.question("pairs", "overall", asked=["overall"])[1] == "better"
    assert english.question("pairs", None)[1] == "better"
    assert english.question("ratings", None)[1] == "overall"
    assert english.question("pairs", "colour_harmony") == ("Which picture is better in ", "colour harmony", "?")
    assert english.question("ratings", "any")[1] == "any"
    assert english.question("pairs", "style", own="Which is *bluer*?") == ("Which is ", "bluer", "?")
    with pytest.raises(UnknownName, match=r"no table of texts 'question\.triples'"):
        english.question("triples", "style")


def test_captions_name_the_side_where_each_side_has_its_own_references() -> None:
    english = texts.load("en")
    assert english.label("content") == "Content"
    assert english.label("style", "right") == "Style B"
    assert english.label("left", "left") == "Result A"
    assert english.label("source") == "Reference"
    assert english.label("source", "left") == "Reference A"
    assert english.factor("prompt") == "Prompt"
    assert english.factor("art_school") == "Art school"


def test_choices_have_ids_that_do_not_depend_on_the_language() -> None:
    for asked in ("gender", "age", "expertise", "region"):
        ids = [[choice["id"] for choice in texts.load(language).choices(asked)] for language in LANGUAGES]
        assert ids[0] == ids[1] == ids[2]
        assert len(ids[0]) >= 3


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("One *word*.", ["One *word*."]),
        ("One **word**.", ["One *word*."]),
        ("a\nb\r\n\r\n c ", ["a b", "c"]),
        ("一\n二", ["一二"]),
        ("2 * 3 * 4", ["2 \u2217 3 \u2217 4"]),
        (r"\*so\*", ["\u2217so\u2217"]),
        ("a * b *c* d*", ["a \u2217 b *c* d\u2217"]),
        ("***", ["\u2217\u2217\u2217"]),
        ("<b onclick=x>*y*</b>", ["<b onclick=x>*y*</b>"]),
        ("[a](javascript:b)", ["[a](javascript:b)"]),
        ("# a\n- b", ["# a - b"]),
        ("a\x00\x1b[31mb", ["a[31mb"]),
        (" \n\n ", []),
    ],
)
def test_marked_text_knows_paragraphs_and_emphasis_only(written: str, read: list[str]) -> None:
    assert texts.paragraphs(written) == read


@given(st.text(alphabet=st.sampled_from(list("ab *\\\n<_`")), max_size=40) | st.text(max_size=40))
def test_asterisks_come_out_in_pairs_around_words(text: str) -> None:
    for paragraph in texts.paragraphs(text):
        parts = paragraph.split("*")
        assert len(parts) % 2 == 1
        assert all(part.strip() for part in parts[1::2])
        assert "\n" not in paragraph
        assert not any(unicodedata.category(c) == "Cc" for c in paragraph)


@given(st.text(alphabet=st.sampled_from(list("ab *\\\n<_`")), max_size=40) | st.text(max_size=40))
def test_plain_text_holds_no_marks(text: str) -> None:
    assert "*" not in texts.plain(text)
    assert "".join(texts.question_parts(text)) == texts.plain(text)


@every
def test_every_card_that_is_shown_has_its_words(language: str) -> None:
    shown = {card.id for tutorial in TUTORIALS for card in tutorial_cards(tutorial)}
    assert shown == {key.partition(".")[0] for key in texts.load(language).under("tutorial")}
