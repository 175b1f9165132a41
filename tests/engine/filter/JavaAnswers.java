import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/*
 * Random expressions, and what java.util.regex finds with them, as regex_test.c reads it:
 *
 *     java tests/engine/filter/JavaAnswers.java SEED EXPRESSIONS TEXTS >answers
 *
 * A line an expression: 1 if case is ignored, else 0; the expression; then for each of the texts 1
 * or 0, a colon and the text; or, after the expression, "refused". Bytes of UTF-8 that are not
 * graphic ASCII, and %, are written as % and two digits of 16. Recorded with JDK 17.
 */
public class JavaAnswers {
    private static final String[] COMMON = {"a", "b", "c", "A", "B", "1", "_", " "};
    private static final String[] RARE = {"é", "É", "α", "Α", "\u0301", "\u0308", "א", "\u0660", "\n", "\r", "\u0085",
        "\u2028", "\u0130", "\u017f", "\u212a", "&", "^", "]", "-", "\u00aa", "\u2160", "\u200d", "一", "\u01c5", "k"};
    private static final String[] PROPERTIES = {"Lu", "Ll", "L", "Nd", "N", "P", "Z", "S", "M", "Mn", "Lt", "LC", "LD",
        "L1", "all", "ASCII", "Alnum", "Alpha", "Cntrl", "Graph", "Lower", "Punct", "Space", "Upper", "XDigit",
        "javaLowerCase", "javaUpperCase", "javaTitleCase", "javaLetterOrDigit", "javaJavaIdentifierPart", "javaWhitespace",
        "javaDefined", "IsAlphabetic", "IsUppercase", "IsWhite_Space", "IsWord", "IsGraph", "IsPrint", "IsLatin", "IsGreek",
        "script=Han", "sc=Hebr", "gc=Lu", "general_category=Nd", "IsCommon"};

    private final Random random;
    private int groups;
    private final List<String> names = new ArrayList<>();

    private JavaAnswers(long seed) {
        random = new Random(seed);
    }

    private String one(String... of) {
        return of[random.nextInt(of.length)];
    }

    private boolean once(int in) {
        return random.nextInt(in) == 0;
    }

    private String character() {
        String character = once(3) ? one(RARE) : one(COMMON);
        return "[]&-^".contains(character) ? "\\" + character : character;
    }

    private String property() {
        return once(6) ? one("\\pL", "\\PL", "\\pN", "\\PM") : one("\\p{", "\\p{", "\\P{") + one(PROPERTIES) + "}";
    }

    private String member() {
        switch (random.nextInt(9)) {
            case 0: return one("a-c", "A-C", "1-3", "a-ÿ", "\\x{e0}-\\x{10ffff}", "!-~", " -A");
            case 1: return one("\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\h", "\\v", "\\H", "\\V");
            case 2: return property();
            case 3: return one("^", "-", "&", "\\v-a", "\\t", "\\x41", "\\u00e9");
            default: return character();
        }
    }

    private String set(int depth) {
        StringBuilder text = new StringBuilder(once(4) ? "[^" : "[");
        int members = 1 + random.nextInt(3);
        for (int i = 0; i < members; i++) {
            text.append(depth > 0 && once(4) ? set(depth - 1) : member());
            if (depth > 0 && once(6))
                text.append("&&").append(once(2) || i == members - 1 ? set(depth - 1) : "");
        }
        return text.append("]").toString();
    }

    private String piece(int depth) {
        switch (random.nextInt(depth > 0 ? 20 : 12)) {
            case 0: return ".";
            case 1: case 2: return set(2);
            case 3: return property();
            case 4: case 5: return one("\\b", "\\B", "\\b", "^", "$", "\\A", "\\z", "\\Z", "\\G");
            case 6: return one("\\R", "\\d", "\\w", "\\s", "\\h", "\\v", "\\W", "\\S");
            case 7: return groups > 0 ? "\\" + (1 + random.nextInt(groups)) : character();
            case 8: return names.isEmpty() ? character() : "\\k<" + names.get(random.nextInt(names.size())) + ">";
            case 12: case 13: case 14: groups++; return "(" + choice(depth - 1) + ")";
            case 15: return "(?:" + choice(depth - 1) + ")";
            case 16: return "(?>" + choice(depth - 1) + ")";
            case 17: {
                String name = "n" + ++groups, text = "(?<" + name + ">" + choice(depth - 1) + ")";
                names.add(name);
                return text;
            }
            case 18: return one("(?=", "(?!") + choice(depth - 1) + ")";
            case 19: return one("(?<=", "(?<!") + character() + (once(2) ? set(1) : "") + ")";
            default: return character();
        }
    }

    private String sequence(int depth) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(3); i >= 0; i--) {
            text.append(piece(depth));
            if (once(3))
                text.append(one("*", "+", "?", "{2}", "{1,2}", "{0,1}", "{1,}")).append(one("", "", "", "?", "+"));
        }
        return text.toString();
    }

    private String choice(int depth) {
        String text = sequence(depth);
        return once(4) ? text + "|" + sequence(depth) : text;
    }

    private String subject() {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(9); i > 0; i--)
            text.append(once(4) ? one(RARE) : one(COMMON));
        return text.toString();
    }

    private static String written(String text) {
        StringBuilder written = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8))
            written.append(b > 0x20 && b < 0x7f && b != '%' ? String.valueOf((char) b) : String.format("%%%02x", b & 0xff));
        return written.toString();
    }

    private String line(int texts) {
        groups = 0;
        names.clear();
        boolean ignoreCase = once(4);
        String expression = choice(3);
        StringBuilder line = new StringBuilder(ignoreCase ? "1 " : "0 ").append(written(expression));
        Pattern pattern;
        try {
            pattern = Pattern.compile(expression, Pattern.DOTALL | (ignoreCase ? Pattern.CASE_INSENSITIVE : 0));
        } catch (PatternSyntaxException e) {
            return line.append(" refused").toString();
        }
        for (int i = 0; i < texts; i++) {
            String text = subject();
            line.append(pattern.matcher(text).find() ? " 1:" : " 0:").append(written(text));
        }
        return line.toString();
    }

    public static void main(String[] arguments) {
        JavaAnswers answers = new JavaAnswers(Long.parseLong(arguments[0]));
        int expressions = Integer.parseInt(arguments[1]), texts = Integer.parseInt(arguments[2]);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        while (expressions > 0) {
            String line = answers.line(texts);
            if (line.length() > 400)
                continue;
            out.println(line);
            expressions--;
        }
        out.flush();
    }
}
