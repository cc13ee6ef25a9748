// SPDX-License-Identifier: Apache-2.0
// A systolic array that multiplies A (m x k) by B (k x n), with the memories and the control around
// it: the truth that the simulator's formulas are held against. Nothing here counts ahead: the last
// element says by the token that it sees when a fold is done, and `cycles` counts edges of the clock
// while the array works.
//
// rows x columns elements of the SIDE x SIDE that there are take part. What stays in them:
//   dataflow 0  sums: rows of A come from the left, columns of B from above, an element each cycle,
//               each row and column a cycle later than the one before it
//   dataflow 1  B: k along the rows, n along the columns; A streams from the left, sums go down
//   dataflow 2  A: k along the rows, m along the columns; B streams from the left, sums go down
// What stays comes from above in front of its fold, a row each cycle. A fold begins in the cycle
// after the one before it.

// One multiply-add, and what it keeps and hands on.
module systolic_element (
  input wire clock,
  input wire loading, working,
  input wire sums_stay,
  input wire clear,                     // what came from the left
  input wire in_valid,
  input wire [7:0] in_token,            // which element of the stream
  input wire signed [15:0] in_left,
  input wire signed [31:0] in_above,
  input wire signed [15:0] in_load,
  output reg out_valid,
  output reg [7:0] out_token,
  output reg signed [15:0] out_right,
  output reg signed [31:0] out_below,
  output wire signed [15:0] out_load,
  output wire signed [31:0] sum         // of this cycle
);
  reg signed [31:0] stays;
  assign out_load = stays[15:0];
  wire signed [15:0] factor = sums_stay ? in_above[15:0] : stays[15:0];
  wire signed [31:0] partial = sums_stay ? (in_token == 0 ? 32'sd0 : stays) : in_above;
  assign sum = partial + in_left * factor;
  initial out_valid = 0;
  always @(posedge clock) begin
    if (loading) stays <= {{16{in_load[15]}}, in_load};
    if (working) begin
      out_valid <= in_valid && !clear;
      out_token <= in_token;
      out_right <= in_left;
      out_below <= sums_stay ? in_above : sum;
      if (sums_stay && in_valid) stays <= sum;
    end
  end
endmodule

module systolic_array #(parameter SIDE = 6) (
  input wire clock,
  input wire start,             // for one cycle; the sizes stay until `busy` is 0
  input wire [1:0] dataflow,
  input wire [7:0] rows, columns, m, n, k,
  // While it is not busy: elements of A and B, [row, column] of each.
  input wire write_a, write_b,
  input wire [5:0] row, column,
  input wire signed [15:0] value,
  output wire signed [31:0] result,  // of C at [row, column]
  output reg busy,
  output reg [31:0] cycles
);
  reg signed [15:0] a_memory [0:4095];
  reg signed [15:0] b_memory [0:4095];
  reg signed [31:0] c_memory [0:4095];
  assign result = c_memory[{row, column}];
  function signed [15:0] a_at(input [7:0] at_m, input [7:0] at_k);
    a_at = at_m < m && at_k < k ? a_memory[{at_m[5:0], at_k[5:0]}] : 16'sd0;
  endfunction
  function signed [15:0] b_at(input [7:0] at_k, input [7:0] at_n);
    b_at = at_k < k && at_n < n ? b_memory[{at_k[5:0], at_n[5:0]}] : 16'sd0;
  endfunction

  // The fold: where its rows and columns begin in the sizes that they stand for, and its stream.
  wire sums_stay = dataflow == 0;
  wire [7:0] row_size = sums_stay ? m : k;
  wire [7:0] column_size = dataflow == 2 ? m : n;
  wire [7:0] length = dataflow == 0 ? k : dataflow == 1 ? m : n;
  reg [7:0] first_row, first_column;
  reg loading;
  reg [7:0] step;  // of loading, or of the stream
  wire working = busy && !loading;
  wire [7:0] loaded_row = first_row + rows - 8'd1 - step;  // the one that goes furthest comes first

  wire valid [0:SIDE-1][0:SIDE];
  wire [7:0] token [0:SIDE-1][0:SIDE];
  wire signed [15:0] from_left [0:SIDE-1][0:SIDE];
  wire signed [31:0] from_above [0:SIDE][0:SIDE-1];
  wire signed [15:0] load [0:SIDE][0:SIDE-1];
  wire signed [31:0] sum [0:SIDE-1][0:SIDE-1];
  // The last element of the fold sees the last of the stream.
  wire fold_done = working && valid[rows-1][columns-1] && token[rows-1][columns-1] == length - 8'd1;

  genvar i, j;
  generate
    for (i = 0; i < SIDE; i = i + 1) begin : edge_left
      wire [7:0] at = first_row + i;
      assign token[i][0] = step - i;
      assign valid[i][0] = step >= i && token[i][0] < length;
      assign from_left[i][0] = dataflow == 0 ? a_at(at, token[i][0])
                             : dataflow == 1 ? a_at(token[i][0], at) : b_at(at, token[i][0]);
    end
    for (j = 0; j < SIDE; j = j + 1) begin : edge_above
      wire [7:0] at = first_column + j;
      wire [7:0] element = step - j;
      wire signed [15:0] operand = b_at(element, at);
      assign from_above[0][j] = sums_stay ? {{16{operand[15]}}, operand} : 32'sd0;
      assign load[0][j] = dataflow == 1 ? b_at(loaded_row, at) : a_at(at, loaded_row);
    end
    for (i = 0; i < SIDE; i = i + 1) begin : line
      for (j = 0; j < SIDE; j = j + 1) begin : place
        systolic_element element(
          .clock(clock), .loading(busy && loading), .working(working), .sums_stay(sums_stay),
          .clear(fold_done), .in_valid(valid[i][j]), .in_token(token[i][j]),
          .in_left(from_left[i][j]), .in_above(from_above[i][j]), .in_load(load[i][j]),
          .out_valid(valid[i][j+1]), .out_token(token[i][j+1]), .out_right(from_left[i][j+1]),
          .out_below(from_above[i+1][j]), .out_load(load[i+1][j]), .sum(sum[i][j]));
      end
    end
  endgenerate

  // What is done is written when it is: a sum that stayed with its last product, one that went down
  // when it leaves the last row.
  integer r, c;
  reg [5:0] at_row, at_column, at_token;
  always @(posedge clock) begin
    if (write_a) a_memory[{row, column}] <= value;
    if (write_b) b_memory[{row, column}] <= value;
    for (r = 0; r < SIDE; r = r + 1)
      for (c = 0; c < SIDE; c = c + 1)
        if (working && valid[r][c] && r < rows && c < columns && first_column + c < column_size) begin
          at_row = first_row[5:0] + r[5:0];
          at_column = first_column[5:0] + c[5:0];
          at_token = token[r][c][5:0];
          if (sums_stay) begin
            if (token[r][c] == length - 8'd1 && first_row + r < row_size)
              c_memory[{at_row, at_column}] = sum[r][c];
          end else if (r == rows - 1) begin
            if (dataflow == 1)
              c_memory[{at_token, at_column}] =
                  sum[r][c] + (first_row == 0 ? 0 : c_memory[{at_token, at_column}]);
            else
              c_memory[{at_column, at_token}] =
                  sum[r][c] + (first_row == 0 ? 0 : c_memory[{at_column, at_token}]);
          end
        end
  end

  initial busy = 0;
  always @(posedge clock) begin
    if (start) begin
      busy <= 1;
      cycles <= 0;
      first_row <= 0;
      first_column <= 0;
      step <= 0;
      loading <= !sums_stay;
    end else if (busy) begin
      cycles <= cycles + 1;
      step <= step + 8'd1;
      if (loading && step == rows - 8'd1) begin
        loading <= 0;
        step <= 0;
      end
      if (fold_done) begin
        step <= 0;
        loading <= !sums_stay;
        if (first_column + columns < column_size) begin
          first_column <= first_column + columns;
        end else begin
          first_column <= 0;
          first_row <= first_row + rows;
          if (first_row + rows >= row_size) busy <= 0;
        end
      end
    end
  end
endmodule
