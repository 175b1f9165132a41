# mistake.rb -- what is said of a syntax error, or of an exception that nothing has rescued, and where:
# a caret stands under the place.
#
# mruby knows only the line of an exception.  The caret stands under the name that the exception, or
# the method that raised it, has in that line.
module Mistake
  # Sentences of SQL have another grammar: what to type in place of their words.
  SQL = {
    'select' => 'scan reads rows, and get reads one',
    'show' => 'list shows the tables, and describe one of them',
    'tables' => 'list shows the tables',
    'insert' => 'put writes a value',
    'update' => 'put writes a value',
    'table' => "the table's name follows at once, in quotes, as in describe 't'",
    'from' => 'delete takes a cell, deleteall a row, and truncate all rows',
    'use' => "a table's namespace is part of its name, as in 'ns:t'"
  }

  # What the parser calls its tokens, in plain words.
  TOKENS = { '$end' => 'end of input', 'tSTRING_BEG' => 'string', 'tSTRING' => 'string',
             'tINTEGER' => 'number', 'tFLOAT' => 'number', 'tLABEL_END' => "':'" }

  FILE = 'kv-shell:'

  class << self
    def name_letter?(letter)
      letter != nil && (letter.match?(/[A-Za-z0-9_]/) || letter.getbyte(0) >= 0x80)
    end

    # Where the line of that number, from 1, begins, and the line.
    def line_of(input, number)
      from = 0
      while number > 1 && (line_end = input.index("\n", from))
        from = line_end + 1
        number -= 1
      end
      [from, input[from...(input.index("\n", from) || input.size)]]
    end

    # Where the line has the name as a whole word; nil: nowhere.
    def find_name(line, name)
      return nil if name.empty?
      name = '[' if name == '[]' || name == '[]=' # what stands between is not in the name
      word = name_letter?(name[0])
      at = line.index(name)
      while at && word && ((at > 0 && name_letter?(line[at - 1])) || name_letter?(line[at + name.size]))
        at = line.index(name, at + 1)
      end
      at
    end

    # The line that has the name, upward from the line of that number, whose calls may have begun
    # before.
    def line_with(input, number, name)
      number.downto(1) do |above|
        found = line_of(input, above)
        return found if find_name(found[1], name)
      end
      line_of(input, number)
    end

    def place(input, number, name)
      line_with(input, number, name)[0]
    end

    # Where the first word from there on begins, and the word.
    def word_at(line, at)
      at += 1 while line[at] == ' ' || line[at] == "\t"
      word_end = at
      word_end += 1 while name_letter?(line[word_end])
      [at, line[at...word_end]]
    end

    # What is shown of a mistake at a position of the input, whose line begins there: kind, position,
    # message.  If the first or second word is one of SQL's, say what to type in its place.
    def shown(from, line, position, kind, message)
      return [kind, position, message] unless %w[SyntaxError NameError NoMethodError].include?(kind)
      at = 0
      2.times do
        at, word = word_at(line, at)
        instead = SQL[word.downcase]
        if instead && !Shell.variable?(word)
          return ['NameError', from + at, "unknown command '#{word}'; #{instead}"]
        end
        at += word.size
      end
      [kind, position, message]
    end

    # ---- Syntax errors ---------------------------------------------------------------------------

    def plain_words(message)
      message = message[14..-1] if message.start_with?('syntax error, ')
      message.gsub(/[^ ,]+/) do |word|
        if TOKENS[word] then TOKENS[word]
        elsif word.size > 8 && word.start_with?('keyword_') then "'#{word[8..-1]}'"
        else word
        end
      end
    end

    # The parser tells where the token that it did not expect ends.
    def begin_of_token(line, token_end)
      at = token_end > 0 ? token_end - 1 : 0
      return line.size if at >= line.size
      if line[at] == "'" || line[at] == '"'
        from = at
        from -= 1 while from > 0 && line[from - 1] != line[at]
        return from > 0 ? from - 1 : at
      end
      at -= 1 while at > 0 && name_letter?(line[at]) && name_letter?(line[at - 1])
      at
    end

    # The string that is open begins at `open`; `apart`, at its place, follows a string without a
    # comma.  nil: there is none.
    def syntax(input, message, number, column, open, place, apart)
      from, line = line_of(input, number)
      message = plain_words(message)
      position = message.include?('unterminated') && open ? open : from + begin_of_token(line, column)
      if place && place <= position
        position = place
        message = apart.match?(/\A[0-9]/) ? 'unexpected number' : "unexpected '#{apart[0, 80]}'"
        message += '; is a comma missing before it?'
      end
      shown(from, line, position, 'SyntaxError', message)
    end

    # ---- Exceptions ------------------------------------------------------------------------------

    # A method's name is what follows ":in " in an entry of a backtrace.
    def method_of(entry)
      at = entry.index(':in ')
      name = at ? entry[at + 4..-1] : ''
      name == 'initialize' ? 'new' : name
    end

    # Where an exception came from, as far as it is known: the line of the input, the method at work
    # there, and the one that it called.
    def origin(exception)
      method = called = ''
      (exception.backtrace || []).each do |entry|
        return [entry[FILE.size..-1].to_i, method_of(entry), called] if entry.start_with?(FILE)
        called = method_of(entry)
      end
      [1, method, called]
    end

    def exception(input, exception)
      kind = exception.class.to_s
      message = exception.message
      message = kind unless String === message
      name = exception.instance_variable_get(:@name)
      number, method, called = origin(exception)
      names = [Symbol === name ? name.to_s : '', method, called,
               kind == 'ZeroDivisionError' ? '/' : '']
      from, line = line_with(input, number, names[0])
      at = names.map { |one| find_name(line, one) }.compact.first
      shown(from, line, from + (at || word_at(line, 0)[0]), kind, message)
    end

    # ---- Names -----------------------------------------------------------------------------------

    # Does a line of the input begin with the name, as one with a command does?
    def begins_statement?(input, number, name)
      from, line = line_with(input, number, name)
      from -= 1 while from > 0 && input[from - 1].match?(/\s/)
      word_at(line, 0)[1] == name && (from == 0 || !',([{'.include?(input[from - 1]))
    end

    # Words that complain about a name that nothing has.
    def name(input, number, name, called)
      text = "undefined #{called ? 'method' : 'local variable or method'} '#{name}'"
      if called || begins_statement?(input, number, name)
        near = Java.nearest(name, Shell.commands)
        near ? "#{text}; did you mean '#{near}'?" : text
      elsif Java::KEYS.include?(name.upcase)
        "#{text}; did you mean #{name.upcase}, or text in quotes?"
      else
        "#{text}; text stands in quotes"
      end
    end
  end
end
